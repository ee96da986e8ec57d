/** Answers an AdmissionReview of the input as the webhook would. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { webhooks } from '../api/names.ts';
import { judge } from '../authbridge/judge.ts';
import type { Memory } from '../authbridge/memory.ts';
import { isRecord } from '../authbridge/record.ts';
import type { Judgement } from '../authbridge/snapshot.ts';
import { admissionReview, MalformedReview, respond } from '../engine/admission-review.ts';
import type { AdmissionRequest, Webhook } from '../engine/types.ts';
import { CliError } from './cli-error.ts';
import type { Document } from './documents.ts';
import type { OfflineCluster } from './offline-snapshot.ts';
import { type Outcome, outcomeOf, subjectName } from './outcome.ts';

/** The response review with what led to it. Throws `CliError` when the document is no review that can be answered. */
export async function reviewed(
  document: Document,
  cluster: OfflineCluster,
  memory: Memory,
  defaultNamespace: string,
): Promise<Outcome> {
  const foreign = ofAnotherKind(document);
  if (foreign !== undefined) return foreign;
  let seen: Seen = { judgement: notReached, namespace: defaultNamespace, request: undefined };
  const webhook: Webhook<Pod> = {
    ...webhooks.inject,
    kind: kinds.pod,
    review: (request) => {
      const namespace = request.namespace || defaultNamespace;
      seen = { namespace, request, judgement: judge(cluster.snapshot({ ...request, namespace }), memory) };
      return Promise.resolve(seen.judgement.verdict);
    },
  };
  const response = await respond(document.object, webhook).catch((error: unknown) => {
    throw error instanceof MalformedReview ? new CliError(`${document.origin}: ${error.message}`) : error;
  });
  const { judgement, namespace, request } = seen;
  const metadata = request?.object?.metadata ?? request?.oldObject?.metadata;
  const subject = `AdmissionReview of ${subjectName('Pod', namespace, metadata)}`;
  return { ...outcomeOf(subject, judgement, cluster.layers(namespace), response), object: response };
}

interface Seen {
  readonly judgement: Judgement;
  readonly namespace: string;
  readonly request: AdmissionRequest<Pod> | undefined;
}

const notReached: Judgement = {
  verdict: { kind: 'deny', reason: 'InvalidPod', note: 'the review was not judged' },
  steps: [],
};

/** A review of anything but a Pod is allowed as it is: the webhook has nothing to say on it. */
function ofAnotherKind({ object, origin }: Document): Outcome | undefined {
  const { request } = object;
  if (!isRecord(request) || !isRecord(request['kind']) || typeof request['uid'] !== 'string') return undefined;
  const { group, kind, version } = request['kind'];
  if (typeof kind !== 'string' || ((group ?? '') === '' && kind === 'Pod' && version === 'v1')) return undefined;
  const note = `the request is about ${kind}, not about a Pod`;
  const answered: AdmissionRequest = {
    uid: request['uid'],
    operation: 'CREATE',
    namespace: '',
    name: '',
    dryRun: false,
    user: '',
  };
  return {
    subject: origin,
    denied: false,
    object: admissionReview(answered, { kind: 'allow', reason: 'NotAPod', note }),
    line: `AdmissionReview of ${kind}: not injected (NotAPod): ${note}`,
    warnings: [],
    explanation: () => [`step pod: stopped: ${note}`],
  };
}
