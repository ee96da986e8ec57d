/** Answers an AdmissionReview of the input as the webhook would. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { webhooks } from '../api/names.ts';
import { judge } from '../authbridge/judge.ts';
import type { Memory } from '../authbridge/memory.ts';
import type { Judgement } from '../authbridge/snapshot.ts';
import { notAPod } from '../authbridge/webhook.ts';
import { MalformedReview, respond } from '../engine/admission-review.ts';
import type { AdmissionRequest, ObjectMeta, Webhook } from '../engine/types.ts';
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
  let seen: Seen = { judgement: otherKind, namespace: defaultNamespace, request: undefined };
  const webhook: Webhook<Pod> = {
    ...webhooks.inject,
    kind: kinds.pod,
    otherKinds: notAPod,
    review: (request) => {
      const namespace = request.namespace || named(request.object).namespace || defaultNamespace;
      seen = { namespace, request, judgement: judge(cluster.snapshot({ ...request, namespace }), memory) };
      return Promise.resolve(seen.judgement.verdict);
    },
  };
  const response = await respond(document.object, webhook).catch((error: unknown) => {
    throw error instanceof MalformedReview ? new CliError(`${document.origin}: ${error.message}`) : error;
  });
  const { judgement, namespace, request } = seen;
  const subject = `AdmissionReview of ${subjectName('Pod', namespace, named(request?.object ?? request?.oldObject))}`;
  return { ...outcomeOf(subject, judgement, cluster.layers(namespace), response), object: response };
}

/** What a pod that nobody has checked is named by, as far as that is text. */
function named(pod: Pod | undefined): Pick<ObjectMeta, 'name' | 'generateName' | 'namespace'> {
  const { name, generateName, namespace }: Readonly<Record<string, unknown>> = { ...pod?.metadata };
  return Object.fromEntries(
    Object.entries({ name, generateName, namespace }).filter(([, value]) => typeof value === 'string'),
  );
}

interface Seen {
  readonly judgement: Judgement;
  readonly namespace: string;
  readonly request: AdmissionRequest<Pod> | undefined;
}

/** What stands when the webhook is never asked: any other reason not to ask it throws. */
const otherKind: Judgement = { verdict: notAPod, steps: [{ step: 'pod', passed: false, reason: notAPod.note }] };
