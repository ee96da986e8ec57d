/** What of the install around the operator does not fit it: definitions that lack something, and webhooks that another install left. */

import { certainNarrowings, type ComparedCrd } from '../api/crd-narrowing.ts';
import type { CrdManifest } from '../api/crds.ts';
import type { WebhookConfiguration, WebhookEntry } from '../api/kubernetes.ts';
import { instanceOfRegistration, operatorPodLabels, webhookConfigurationsOf, webhooks } from '../api/names.ts';
import { release } from '../api/release.ts';
import { isAskedAbout } from './asked-namespaces.ts';

/** One object that does not fit. */
export interface Fault {
  readonly kind: string;
  readonly name: string;
  /** What is wrong and what to do, for people. */
  readonly sentence: string;
  /** Of a definition that is older: all that it lacks, of which the sentence names the first few, and itself. */
  readonly older?: { readonly missing: readonly string[]; readonly definition: ComparedCrd };
}

const remedy = `apply the CustomResourceDefinitions of release ${release} (folder 10-crds of its manifests); no restart is needed`;
const named = 3;

/**
 * The fault of a CustomResourceDefinition as it is in the cluster (`live`; undefined: absent) beside `known`, with which this operator was
 * built. One that accepts more is of a newer release, and no fault; nor is one with another pattern, which may be wider: what it does refuse is
 * refused in words.
 */
export function crdFault(known: CrdManifest, live: ComparedCrd | undefined): Fault | undefined {
  const { kind, metadata } = known;
  const fault = { kind, name: metadata.name };
  const it = `${kind} ${metadata.name}`;
  if (live === undefined) return { ...fault, sentence: `${it} does not exist: ${remedy}` };
  const missing = certainNarrowings(known, live);
  if (missing.length === 0) return undefined;
  const more = missing.length > named ? `; and ${missing.length - named} more` : '';
  const what = `${missing.slice(0, named).join('; ')}${more}`;
  const sentence = `${it} is older than this operator (${what}), so the API server drops or refuses what it lacks: ${remedy}`;
  return { ...fault, sentence, older: { missing, definition: live } };
}

/** What this install is known by among the webhook registrations of a cluster. */
export interface OwnInstall {
  /** Its Service, which the API server calls. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** Which of several installs it is; '' for one without an instance. */
  readonly instance: string;
  /** The namespaces that it watches; empty: all. */
  readonly namespaces: readonly string[];
}

/**
 * The fault of a webhook registration that is not of this install but of this platform: an older install’s under another name, or that of
 * another implementation. It is asked about the same pods, and with `failurePolicy: Fail` refuses them when nobody answers. One that is
 * asked about none of the watched namespaces is of another install of the cluster, and no fault.
 */
export function leftoverFault(
  kind: string,
  configuration: Pick<WebhookConfiguration, 'metadata' | 'webhooks'>,
  own: OwnInstall,
): Fault | undefined {
  const { name = '', labels = {} } = configuration.metadata;
  if (Object.values(webhookConfigurationsOf(own.instance)).includes(name)) return undefined;
  const { webhooks: entries = [] } = configuration;
  const nameLabel = 'app.kubernetes.io/name' as const;
  const isLabelled = labels[nameLabel] === operatorPodLabels[nameLabel];
  const hook =
    entries.find((entry) => isOfPlatform(entry, own)) ??
    (isLabelled ? entries.find((entry) => concerns(entry, own)) : undefined);
  if (hook === undefined) return undefined;
  const consequence =
    hook.failurePolicy === 'Ignore'
      ? 'is asked beside this install’s'
      : 'refuses what it matches when that does not answer';
  const remedy = `delete it (kubectl delete ${kind.toLowerCase()} ${name})${inUse(hook, instanceOfRegistration(name), own)}`;
  const sentence = `${kind} ${name} is left of another install: its webhook ${hook.name} calls ${calledBy(hook)} and ${consequence}; ${remedy}`;
  return { kind, name, sentence };
}

function isOfPlatform(entry: WebhookEntry, own: OwnInstall): boolean {
  const { name, clientConfig } = entry;
  const { service, url = '' } = clientConfig;
  if (callsUs(entry, own)) return true;
  const isOurs = Object.values(webhooks).some(
    (ours) => ours.name === name || service?.path === ours.path || url.endsWith(ours.path),
  );
  return isOurs && concerns(entry, own);
}

function callsUs({ clientConfig: { service } }: WebhookEntry, own: OwnInstall): boolean {
  return service?.namespace === own.service.namespace && service.name === own.service.name;
}

/** Whether it is asked about anything that this install looks after. */
function concerns(entry: WebhookEntry, { namespaces }: OwnInstall): boolean {
  return namespaces.length === 0 || namespaces.some((namespace) => isAskedAbout(entry, namespace));
}

/** What else can be done where it may be of an install that is alive. */
function inUse(entry: WebhookEntry, instance: string | undefined, own: OwnInstall): string {
  if (callsUs(entry, own)) return '';
  const both = own.namespaces.filter((namespace) => isAskedAbout(entry, namespace));
  if (both.length > 0) return `, or where that install is in use let only one of the two watch ${both.join(', ')}`;
  if (instance === undefined || instance === '') return '';
  return `, or where the install ${instance} is in use make this one namespaced, with namespaces that no other watches`;
}

function calledBy({ clientConfig: { service, url } }: WebhookEntry): string {
  return service === undefined ? (url ?? 'nobody') : `Service ${service.namespace}/${service.name}`;
}

/** What is kept of a registration: a cluster has many of them, and most of each is certificates. */
export function keptRegistration({ apiVersion, kind, metadata, webhooks: entries = [] }: WebhookConfiguration) {
  const { name, uid, resourceVersion, labels } = metadata;
  const kept = entries.map(({ name: hook, failurePolicy, namespaceSelector, clientConfig: { service, url } }) => ({
    name: hook,
    failurePolicy,
    namespaceSelector,
    clientConfig: { service, url },
  }));
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, labels }, webhooks: kept } as WebhookConfiguration;
}
