/** The last thing an operator does when its install is taken down: it lets go of every workload, so that nothing waits for it in vain. */

import { kinds } from '../api/kinds.ts';
import type { WebhookConfiguration } from '../api/kubernetes.ts';
import { webhookConfigurationsOf } from '../api/names.ts';
import { type Client, liveReader } from '../engine/client.ts';
import { sentenceOf } from '../engine/errors.ts';
import type { Manager } from '../engine/manager.ts';
import type { LiveReader, Log } from '../engine/types.ts';
import { leftoverFault, type OwnInstall } from './installation-faults.ts';
import type { Settings } from './settings.ts';

/** Less than the `terminationGracePeriodSeconds` of the operator's pod, by what the end itself takes. */
const withinMs = 270_000;
/** An API server that does not answer keeps no process from ending. */
const askWithinMs = 3_000;

export interface Removal {
  readonly manager: Manager;
  /** One whose reads wait behind nothing: the API server's answer is worth seconds, not a queue of the controllers' requests. */
  readonly client: Client;
  readonly settings: Pick<Settings, 'namespace' | 'deploymentName' | 'webhookService' | 'instance' | 'namespaces'>;
  readonly log: Log;
}

/**
 * Called on SIGTERM. Whoever writes takes back what it brought about and takes its finalizers off when the install is being removed, and
 * does nothing otherwise. AgentRuntimes and AgentCards stay: they go with their CustomResourceDefinitions, or serve the next install.
 */
export async function letGoIfRemoved({ manager, client, settings, log }: Removal): Promise<void> {
  if (!manager.health().lease.isHeld) return;
  if (!(await isBeingRemoved(liveReader(client, AbortSignal.timeout(askWithinMs)), settings, log))) return;
  log.info('the install is being removed: every workload is let go');
  const left = await manager.letGo(withinMs);
  if (left === 0) log.info('every workload was let go');
  else log.error('not every workload was let go in time: run npx rossoctl uninstall', { left });
}

/**
 * Both at once, which no update, crash or slip brings about: the operator's Deployment is being deleted, in the foreground, and no webhook of
 * the platform is registered any more for what it watches: neither its own, nor that of an install that takes over.
 */
async function isBeingRemoved(live: LiveReader, settings: Removal['settings'], log: Log): Promise<boolean> {
  const { namespace, deploymentName, webhookService, instance, namespaces } = settings;
  const own = { service: { namespace, name: webhookService }, instance, namespaces };
  try {
    const deployment = await live.get(kinds.deployment, { namespace, name: deploymentName });
    if (deployment?.metadata.deletionTimestamp === undefined) return false;
    const both = [kinds.mutatingWebhookConfiguration, kinds.validatingWebhookConfiguration];
    const registered = await Promise.all(both.map((kind) => live.list(kind)));
    return !registered.flat().some((each) => isAbout(each, own));
  } catch (error) {
    log.warn('whether the install is being removed cannot be seen', { reason: sentenceOf(error) });
    return false;
  }
}

function isAbout(registration: WebhookConfiguration, own: OwnInstall): boolean {
  const names: readonly string[] = Object.values(webhookConfigurationsOf(own.instance));
  return (
    names.includes(registration.metadata.name ?? '') ||
    leftoverFault(registration.kind, registration, own) !== undefined
  );
}
