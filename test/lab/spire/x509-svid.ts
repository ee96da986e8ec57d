// Reads what the Workload API gives a workload: its key, its certificates and the roots it trusts.
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** An X.509-SVID with its key. */
export interface X509Svid {
  readonly spiffeId: string;
  /** The private key, PKCS#8 PEM. */
  readonly key: string;
  /** The leaf and, if there are any, the intermediate certificates behind it, PEM. */
  readonly chain: string;
  /** The roots of its trust domain, PEM. */
  readonly bundle: string;
  readonly leaf: X509Certificate;
  /** The number of certificates in `chain`. */
  readonly length: number;
}

/** The SVIDs of an X509SVIDResponse (SPIFFE Workload API, section 5.2), as protobuf. */
export function readX509Svids(response: Buffer): readonly X509Svid[] {
  return fieldsOf(response)
    .filter(({ number }) => number === 1)
    .map(({ value }) => readX509Svid(value));
}

function readX509Svid(message: Buffer): X509Svid {
  const byNumber = new Map(fieldsOf(message).map(({ number, value }) => [number, value]));
  const field = (number: number): Buffer => byNumber.get(number) ?? Buffer.alloc(0);
  const spiffeId = field(1).toString();
  const chain = certificatesOf(field(2));
  const [leaf] = chain;
  if (leaf === undefined) throw new Error(`the SVID of ${spiffeId} has no certificate`);
  const key = createPrivateKey({ key: field(3), format: 'der', type: 'pkcs8' });
  return {
    spiffeId,
    key: key.export({ format: 'pem', type: 'pkcs8' }),
    chain: pemOf(chain),
    bundle: pemOf(certificatesOf(field(4))),
    leaf,
    length: chain.length,
  };
}

interface Field {
  readonly number: number;
  readonly value: Buffer;
}

// All fields of these messages are strings, bytes or messages: a tag, a length and that many bytes.
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let result = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at++);
      result += (byte & 0x7f) * factor;
      if (byte < 0x80) return result;
    }
  };
  while (at < message.length) {
    const tag = varint();
    if (tag % 8 !== 2)
      throw new Error(`field ${tag >> 3} has the wire type ${tag % 8}, which the Workload API never uses`);
    const length = varint();
    fields.push({ number: tag >> 3, value: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

// Certificates follow each other without anything between; the parser reads the first and leaves the rest.
function certificatesOf(der: Buffer): readonly X509Certificate[] {
  const certificates: X509Certificate[] = [];
  for (let at = 0; at < der.length; ) {
    const certificate = new X509Certificate(der.subarray(at));
    certificates.push(certificate);
    at += certificate.raw.length;
  }
  return certificates;
}

function pemOf(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join('');
}
