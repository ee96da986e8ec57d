/** The identity the target's pods get: its SPIFFE ID, or why there is none. */

import type { AgentRuntimeStatus } from '../api/agent-runtime.ts';
import type { Finding } from '../api/conditions.ts';
import { labels, spiffeId } from '../api/names.ts';
import type { Effective } from '../config/layers.ts';
import type { Workload } from '../workload/workload.ts';

export interface SpiffeInput {
  readonly workload: Workload;
  readonly effective: Effective;
  /** Why pods are not injected at all, if so. */
  readonly off: string | undefined;
  readonly hasCsiDriver: boolean;
}

export interface Spiffe {
  /** Our part of `status.identity`; others own theirs. */
  readonly identity: NonNullable<AgentRuntimeStatus['identity']>;
  readonly finding: Finding;
}

/** The ServiceAccount is the template's, as the webhook derives it from the pod (PM-08): both sides say the same. */
export function spiffe(input: SpiffeInput): Spiffe {
  const { workload, effective } = input;
  const verdict = judgement(input);
  const isOn = verdict.reason === 'SpiffeAvailable';
  const id = spiffeId(effective.config.spiffe.trustDomain, workload.namespace, workload.serviceAccount);
  return {
    identity: { spiffeEnabled: isOn, ...(isOn ? { spiffeId: id } : {}) },
    finding: { type: 'SpiffeReady', ...verdict },
  };
}

function judgement({ workload, effective, off, hasCsiDriver }: SpiffeInput): Omit<Finding, 'type'> {
  const { spiffe: settings, mtls } = effective.config;
  const disabled = disabledBy(workload, effective, off);
  if (disabled !== undefined) return { status: 'False', reason: 'SpiffeDisabled', message: disabled };
  if (settings.volume === 'csi' && !hasCsiDriver) {
    const consequence =
      mtls.mode === 'strict' ? 'With mtlsMode strict new pods are refused.' : 'New pods start without an identity.';
    return {
      status: 'False',
      reason: 'SpiffeUnavailable',
      message: `The cluster has no CSI driver csi.spiffe.io. ${consequence} Install SPIRE with its CSI driver, or set spiffe.volume: hostPath.`,
    };
  }
  return { status: 'True', reason: 'SpiffeAvailable', message: 'New pods get a SPIFFE identity.' };
}

function disabledBy(workload: Workload, { gates }: Effective, off: string | undefined): string | undefined {
  if (off !== undefined) return off;
  if (!gates.spiffeHelper) return 'The feature gate spiffeHelper is false.';
  if (workload.templateLabels[labels.spiffeHelperInject] === 'false') {
    return `The pod template is labelled ${labels.spiffeHelperInject}: "false".`;
  }
  return undefined;
}
