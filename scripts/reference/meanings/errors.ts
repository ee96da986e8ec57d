/** What the codes of errors mean, and what to do. */

import type { Meanings } from './meanings.ts';

/** Codes of the operator, in field `error.code` of its log and in answers of its webhooks. */
export const errorMeanings: Meanings<string> = {
  API_ERROR:
    'The API server refused a request; method, path, status and reason are in the message. The operator tries again ever more slowly. On 403 give its account the right: apply the synthesized roles.',
  API_UNREACHABLE:
    'The API server did not answer, or broke off. The operator tries again; whether a write happened is found out by the next look.',
  NOT_SYNCED: 'A watch has not completed its first list. `/readyz?verbose` names it and what stands in the way.',
  LOST_LEASE:
    'The Lease is held by another replica, or could not be renewed. The process ends before it writes anything more, and is restarted.',
  KUBECONFIG_INVALID:
    'The kubeconfig or the files of the ServiceAccount cannot be used; the message names file and field.',
  BODY_EXCEEDS:
    'What was sent is larger than is read, or comes in thousands of pieces of a few bytes. Nobody who means well does that: look at who sends it.',
  INTERIM_OVERFLOW:
    'An agent or an identity provider sends one interim answer (1xx) after the other in place of what was asked for: look at who serves there.',
  CAPTURE_SETTINGS_INVALID:
    '`proxy-init` cannot read its environment; the message names each variable. It is written by the webhook: delete the pod, so that it is made anew.',
  CAPTURE_FAILED:
    '`proxy-init` could not write or read back the rules that capture the traffic of the pod, which therefore does not start; the message says what the node or the namespace lacks.',
  SIDECAR_SETTINGS_INVALID:
    'An injected container cannot read its environment; the message names each variable and what is wrong with it. The container is started again, so what is put right in the ConfigMap counts.',
  CONFIG_INVALID:
    'The mounted configuration or the mounted gates are invalid at the start; the message names file, line and path. Later the last good content stays in use.',
  CERTIFICATE_FILES_INVALID:
    'The files in `--certificate-dir` are no certificate and key that belong together. Look at the Secret that cert-manager writes.',
  CERTIFICATE_SECRET_FOREIGN:
    "The Secret of the webhooks' certificate holds data and is not the operator's. Delete it, label it as the message says, or set another name with `--certificate-secret`.",
  LIVE_FILE_INVALID: 'A mounted file cannot be read, is none, or is too large; the message names it.',
  WATCH_MALFORMED: 'A watch sent a line that is no event. The watch is begun again.',
  ADMISSION_MALFORMED: 'What was sent to a webhook is no admission review; the message says why.',
  ADMISSION_DEADLINE: 'A review did not end in the time that the API server gave it.',
  ADMISSION_VERDICT: 'A webhook wanted to change an object that is being deleted: a defect; please report it.',
  Usage: 'A flag or variable of the operator that is unknown or cannot be; exit code 2.',
};

/** Codes of what is thrown while manifests are made. */
export const synthesisMeanings: Meanings<string> = {
  Settings:
    'The settings of an environment cannot be used; file, line, path and remedy are in the message. Exit code of `npm run synth`: 1.',
};
