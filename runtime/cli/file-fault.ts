/** Why a file cannot be read or written, as a clause for people that says what to do where that is not plain. */

/** By the code of the system. */
const common: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  ENOTDIR: 'a part of its path is a file, not a directory',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
  ENXIO: 'nothing is behind this device or socket; name a file, or - for standard input or output',
  EIO: 'the device fails',
};

const reading: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory; name its files',
};

const writing: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist; make it first',
  EISDIR: 'it is a directory; name a file in it',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space is left on its device',
  EDQUOT: 'the quota of its user is used up',
  ETXTBSY: 'it is a program that runs',
};

export function readFault(error: unknown): string {
  return told(error, reading);
}

export function writeFault(error: unknown): string {
  return told(error, writing);
}

/** One that is not known is named by its code. */
function told(error: unknown, own: Readonly<Record<string, string>>): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return own[code] ?? common[code] ?? code;
}
