/** Empties what this folder remembers: for measurements of the first time. */

import { forgetCertificates } from './certificate.ts';
import { forgetChains } from './chain.ts';

/** Certificates and paths are read and built anew from here on. Verdicts are the same either way. */
export function forgetAll(): void {
  forgetCertificates();
  forgetChains();
}
