/** The answers of the Workload API as they are on the wire: their fields, and the reading of their bytes. */

import { fromBinary } from '@bufbuild/protobuf';
import { messageOf } from '../wire/registry.ts';

/** The fields that are looked at, by message; their types are those of `imports/protocols.ts`. */
interface Answers {
  readonly X509SVIDResponse: {
    readonly svids: readonly {
      readonly spiffeId: string;
      /** The leaf and what stands behind it, DER, one after the other. */
      readonly x509Svid: Uint8Array;
      /** PKCS#8, DER. */
      readonly x509SvidKey: Uint8Array;
      readonly bundle: Uint8Array;
    }[];
    readonly federatedBundles: Readonly<Record<string, Uint8Array>>;
  };
  readonly X509BundlesResponse: { readonly bundles: Readonly<Record<string, Uint8Array>> };
  readonly JWTSVIDResponse: { readonly svids: readonly { readonly spiffeId: string; readonly svid: string }[] };
  readonly JWTBundlesResponse: { readonly bundles: Readonly<Record<string, Uint8Array>> };
}

/** The message that `bytes` are; undefined when they are none. Never throws. */
export function answerIn<N extends keyof Answers>(name: N, bytes: Uint8Array): Answers[N] | undefined {
  const description = messageOf(name);
  try {
    return fromBinary(description, bytes, { readUnknownFields: false }) as unknown as Answers[N];
  } catch {
    // Of whatever class: what does not read as protobuf is no answer.
    return undefined;
  }
}
