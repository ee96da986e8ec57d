/** Whether a container is the one we would build, in everything that makes it protect the pod: one row a property. */

import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Container, Volume, VolumeMount } from '../api/kubernetes.ts';
import { isRecord } from './record.ts';

/** What a container must be like. */
export interface Likeness {
  readonly container: Container;
  /** The same container with its settings taken from the other source: literals, or references. Either will do. */
  readonly variant: Container;
  /** Images that are ours, whatever their tag: an older release's container is ours too. */
  readonly images: readonly string[];
}

type Check = (actual: Container, likeness: Likeness) => string | undefined;

/** Fields that we never set, and that change what the container does. */
const foreignFields = ['command', 'workingDir', 'lifecycle', 'envFrom', 'volumeDevices'] as const;

const checks: readonly Check[] = Object.freeze([
  ({ image }, { images }) =>
    images.some((ours) => repositoryOf(ours) === repositoryOf(image ?? '')) ? undefined : `image ${shown(image)}`,
  (actual) => foreignFields.find((field) => isSet(fieldsOf(actual)[field])),
  ...(['args', 'restartPolicy', 'securityContext'] as const).map(
    (field): Check =>
      (actual, { container }) =>
        isSame(actual[field], container[field]) ? undefined : `${field} ${shown(actual[field])}`,
  ),
  environment,
  mounts,
]);

/** What is not as it would be built, as a phrase; undefined: nothing. Resources, probes, pull policy and tag are others' to change. */
export function unlikeness(actual: Container, likeness: Likeness): string | undefined {
  for (const check of checks) {
    const found = check(actual, likeness);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True when the pod's volume is the one we would build; what an API server fills in is no difference. */
export function isOurVolume(actual: Volume | undefined, built: Volume): boolean {
  return actual !== undefined && isSame(withoutDefaults(actual), withoutDefaults(built));
}

function withoutDefaults(volume: Volume): unknown {
  const { secret } = volume;
  if (secret === undefined) return volume;
  const { defaultMode, ...rest } = secret;
  return defaultMode === undefined || defaultMode === 0o644 ? { ...volume, secret: rest } : volume;
}

/** Also those that our types do not have. */
function fieldsOf(container: Container): Readonly<Record<string, unknown>> {
  return { ...container };
}

/** Every variable of ours with our value, none of ours beside them, and none by which the container would load other code. */
function environment({ env = [] }: Container, { container, variant }: Likeness): string | undefined {
  const built = [container, variant].map(
    (one) => new Map((one.env ?? []).map((variable) => [variable.name, variable])),
  );
  const names = new Set([...built.flatMap((one) => [...one.keys()]), ...env.map(({ name }) => name).filter(isOurName)]);
  const unlike = [...names].find((name) => {
    const found = env.filter((variable) => variable.name === name);
    const wanted = built.map((one) => one.get(name));
    if (isFree(name)) return false;
    return found.length === 0
      ? !wanted.includes(undefined)
      : !found.every((each) => wanted.some((one) => one !== undefined && holds(each, one)));
  });
  return unlike && `variable ${unlike}`;
}

/** Where telemetry goes protects nothing, and may have been set by an older configuration. */
function isFree(name: string): boolean {
  return name.startsWith('OTEL_');
}

/** All that our containers read, and what decides which code a container runs and whom it trusts. Telemetry, proxies and cloud identities are others'. */
const reads = new RegExp(
  `^(${[
    '(AUTHBRIDGE|MTLS|SPIFFE|KEYCLOAK|TARGET|POD|PROXY|IDP|JWKS|JWT|CLIENT|IPTABLES|PLAIN)_.*',
    '(IN|OUT)BOUND_.*',
    '(ADMIN_|HEALTH_|APPLICATION_)?PORT',
    'ISSUER|TOKEN_URL|ALLOWED_AUDIENCES|CLOCK_SKEW_SECONDS|SERVICE_ACCOUNT',
    '((ADMIN_)?CREDENTIALS|SVID|WORK)_DIR',
    'PROBES|ROUTES|BYPASS_PATHS|DRAIN_SECONDS|LOG_LEVEL|ACCESS_LOG',
  ].join('|')})$`,
);
/** `XTABLES_LIBDIR` has iptables load its extensions from there, with what proxy-init may do. */
const loads = new RegExp(
  `^(${[
    '(LD|ENVOY|NODE|SSL_CERT|OPENSSL|XTABLES|IP6TABLES)_.*',
    'GODEBUG|PATH|(BASH_)?ENV|PYTHON(PATH|STARTUP|HOME)|SSLKEYLOGFILE|GCONV_PATH',
    'HOSTALIASES|LOCALDOMAIN|RES_OPTIONS',
  ].join('|')})$`,
);

function isOurName(name: string): boolean {
  return reads.test(name) || loads.test(name);
}

/** `actual` says all that `wanted` says; an API server adds the version of a field reference. */
function holds(actual: unknown, wanted: unknown): boolean {
  if (!isRecord(actual) || !isRecord(wanted)) return isSame(actual, wanted);
  const { apiVersion: _, ...rest } = actual;
  const names = new Set([...Object.keys(rest), ...Object.keys(wanted)].filter((name) => isSet(rest[name])));
  for (const name of Object.keys(wanted)) names.add(name);
  return [...names].every((name) => holds(rest[name], wanted[name]));
}

/** Our mounts, and beside them at most identities that a cluster mounts into every container. */
function mounts({ volumeMounts = [] }: Container, { container }: Likeness): string | undefined {
  const known = container.volumeMounts ?? [];
  const missing = known.find((wanted) => !volumeMounts.some((mount) => isSameMount(mount, wanted)));
  if (missing !== undefined) return `mount ${missing.mountPath}`;
  const extra = volumeMounts.find(
    (mount) =>
      !known.some((wanted) => isSameMount(mount, wanted)) && !/^\/(var\/)?run\/secrets\//.test(mount.mountPath),
  );
  return extra === undefined ? undefined : `mount ${extra.mountPath}`;
}

function isSameMount(actual: VolumeMount, wanted: VolumeMount): boolean {
  return isSame(actual, wanted);
}

/** `ghcr.io/x/envoy` of `ghcr.io/x/envoy:1@sha256:…`. */
function repositoryOf(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}

function isSame(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

/** Absent is the same as empty. */
function textOf(value: unknown): string {
  return isSet(value) ? canonicalJson(plain(value)) : '';
}

/** Without members that are undefined or null, which mean absent. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !Array.isArray(value) || value.length > 0;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length <= 120 ? text : `${text.slice(0, 120)}…`;
}
