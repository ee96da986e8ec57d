/** Writes the DER that certificates are made of; the reader under test is not used. */

export function tlv(tag: number, ...content: readonly (Uint8Array | undefined)[]): Buffer {
  const body = Buffer.concat(content.filter((each) => each !== undefined));
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...content: readonly (Uint8Array | undefined)[]): Buffer => tlv(0x30, ...content);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): readonly number[] {
  const digits = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left % 128) | 0x80);
  return digits;
}

/** `O=SPIRE, CN=root`. */
export function name(text: string): Buffer {
  const types: Readonly<Record<string, string>> = { C: '2.5.4.6', O: '2.5.4.10', CN: '2.5.4.3' };
  const parts = text === '' ? [] : text.split(', ').map((part) => part.split('='));
  return sequence(
    ...parts.map(([type = '', value = '']) =>
      tlv(0x31, sequence(oid(types[type] ?? type), tlv(0x0c, Buffer.from(value)))),
    ),
  );
}

/** UTCTime until 2049, GeneralizedTime from then on. */
export function time(iso: string): Buffer {
  const digits = new Date(iso).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050 ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits));
}

/** One extension as it stands in a certificate. */
export interface Extension {
  readonly oid: string;
  readonly encoded: Buffer;
}

export function extension(id: string, value: Uint8Array, isCritical = false): Extension {
  const critical = isCritical ? tlv(0x01, Buffer.from([0xff])) : undefined;
  return { oid: id, encoded: sequence(oid(id), critical, tlv(0x04, value)) };
}
