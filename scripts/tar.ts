/** Encodes a tar archive (POSIX ustar, with pax records for long names) that depends on nothing but its entries. */

interface Owned {
  /** Relative, without a trailing slash. */
  readonly path: string;
  readonly mode: number;
  /** Default 0. */
  readonly uid?: number;
  /** Default 0. */
  readonly gid?: number;
}

/** One member of the archive. */
export type TarEntry =
  | (Owned & { readonly type: 'file'; readonly content: Uint8Array })
  | (Owned & { readonly type: 'symlink'; readonly link: string })
  | (Owned & { readonly type: 'directory' });

const blockBytes = 512;
const nameBytes = 100;
const typeFlags = { file: '0', symlink: '2', directory: '5', pax: 'x' } as const;

/** The archive's bytes: the entries in the given order, all times zero, owners as numbers only. */
export function tar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(encodeEntry), Buffer.alloc(2 * blockBytes)]);
}

function encodeEntry(entry: TarEntry): readonly Uint8Array[] {
  const name = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const link = entry.type === 'symlink' ? entry.link : '';
  const content = entry.type === 'file' ? entry.content : new Uint8Array();
  const { mode, uid = 0, gid = 0 } = entry;
  return [
    ...longNameRecords(name, link),
    header({ name, link, mode, uid, gid, size: content.length, typeFlag: typeFlags[entry.type] }),
    content,
    padding(content.length),
  ];
}

// pax(5): "<length of the whole record> <key>=<value>\n" for what does not fit the header.
function longNameRecords(name: string, link: string): readonly Uint8Array[] {
  const records = [paxRecord('path', name), paxRecord('linkpath', link)].join('');
  if (records === '') return [];
  const content = Buffer.from(records);
  const fields = { name: 'pax', link: '', mode: 0o644, uid: 0, gid: 0 };
  return [header({ ...fields, size: content.length, typeFlag: typeFlags.pax }), content, padding(content.length)];
}

function paxRecord(key: string, value: string): string {
  if (Buffer.byteLength(value) <= nameBytes) return '';
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  const guess = restBytes + String(restBytes).length;
  return `${restBytes + String(guess).length}${rest}`;
}

interface Header {
  readonly name: string;
  readonly link: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly typeFlag: string;
}

function header({ name, link, mode, uid, gid, size, typeFlag }: Header): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.set(Buffer.from(name).subarray(0, nameBytes), 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(uid, 7), 108);
  block.write(octal(gid, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write(typeFlag, 156);
  block.set(Buffer.from(link).subarray(0, nameBytes), 157);
  block.write('ustar\u000000', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function padding(bytes: number): Uint8Array {
  return new Uint8Array((blockBytes - (bytes % blockBytes)) % blockBytes);
}
