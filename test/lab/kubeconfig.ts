// Writes the kubeconfig file of one client certificate.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface KubeconfigSource {
  readonly server: string;
  /** The folder of the cluster's certificates. */
  readonly certificatesDir: string;
  /** The certificate's file name without extension, such as `admin`. */
  readonly user: string;
}

/** Writes a self-contained kubeconfig (JSON, which is YAML too) readable by its owner only. */
export function writeKubeconfig(path: string, { server, certificatesDir, user }: KubeconfigSource): void {
  const encoded = (file: string): string => readFileSync(join(certificatesDir, file)).toString('base64');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'lab',
    contexts: [{ name: 'lab', context: { cluster: 'lab', user } }],
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': encoded('ca.crt') } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': encoded(`${user}.crt`), 'client-key-data': encoded(`${user}.key`) },
      },
    ],
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(kubeconfig, null, 2)}\n`, { mode: 0o600 });
}
