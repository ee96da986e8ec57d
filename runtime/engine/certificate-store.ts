/** Reads and writes the certificate Secret so that two replicas at once end with one holding. */

import type { CallOptions, Client } from './client.ts';
import {
  type Holding,
  type SecretNames,
  type SecretObject,
  holdingIn,
  isOurs,
  nothing,
  secretOf,
} from './certificate-secret.ts';
import { EngineError, isConflict, isNotFound } from './errors.ts';
import type { RequestSpec } from './transport.ts';
import type { Kind, LiveReader, Log } from './types.ts';

export interface StoreOptions extends SecretNames {
  readonly kind: Kind<SecretObject>;
  readonly reader: LiveReader;
  readonly client: Pick<Client, 'create' | 'replace'>;
  readonly fieldManager: string;
  readonly log: Log;
}

/** A holding, and the Secret it was read from, absent when there was none. */
export interface Stored {
  readonly holding: Holding;
  readonly secret: SecretObject | undefined;
}

export interface CertificateStore {
  /** Throws `CERTIFICATE_SECRET_FOREIGN` for a Secret that is not ours to write. */
  read(): Promise<Stored>;
  /** Undefined: somebody else has written since `stored` was read; read again and take theirs. */
  write(stored: Stored, holding: Holding): Promise<Stored | undefined>;
}

/** The store in one Secret. */
export function certificateStore(options: StoreOptions): CertificateStore {
  const { kind, key, labels, reader, client, fieldManager, log } = options;
  const as: CallOptions & Pick<RequestSpec, 'query'> = { query: { fieldManager } };
  let complained = '';

  const complain = (secret: SecretObject, faults: readonly string[]): void => {
    const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`;
    if (faults.length === 0 || version === complained) return;
    complained = version;
    log.warn('certificate Secret is damaged and will be made good', { secretName: key.name, faults });
  };

  return {
    read: async () => {
      const secret = await reader.get(kind, key);
      if (secret === undefined) return { holding: nothing, secret: undefined };
      if (!isOurs(secret, labels)) throw foreign(options);
      const { holding, faults } = holdingIn(secret);
      complain(secret, faults);
      return { holding, secret };
    },
    write: async ({ secret }, holding) => {
      const body = secretOf(holding, options, secret);
      try {
        const written = await (secret === undefined ? client.create(kind, body, as) : client.replace(kind, body, as));
        return { holding, secret: written };
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}

function foreign({ key, labels }: StoreOptions): EngineError {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return new EngineError(
    'CERTIFICATE_SECRET_FOREIGN',
    `Secret ${key.namespace}/${key.name} holds data but lacks the label ${wanted.join(', ')}: it is somebody else's; ` +
      'delete it, label it, or set another name',
  );
}
