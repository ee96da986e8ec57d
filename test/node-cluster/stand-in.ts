/** What is injected in tests that are about something else: answers the proxy's probes, redirects nothing, and is small. */

import { writeBusyboxImage } from '../../examples/demo/busybox-image.ts';

/** Writes the archive of the image that the environment `local` injects, into `folder`, from a static busybox; returns its path. */
export function writeStandIn(busybox: string, folder: string): string {
  return writeBusyboxImage(busybox, folder, {
    tag: 'lab.local/rossoctl-sidecar:dev',
    command: '[ "$0" = proxy-init ] || exec httpd -f -p "$HEALTH_PORT" -h /www',
    files: { 'www/readyz': 'ok\n', 'www/healthz': 'ok\n' },
  });
}
