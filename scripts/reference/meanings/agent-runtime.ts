/** What the conditions of an AgentRuntime mean, and what to do. */

import { type agentRuntimeReasons, conflictReasons } from '../../../runtime/api/conditions.ts';
import type { ConditionMeanings, Meanings } from './meanings.ts';

const seeTarget = 'See `TargetResolved`.';
const seeConfig = 'See `ConfigResolved`.';

const podsRefused =
  "Every new pod is refused. Pods from before run on where the update strategy replaces them only when a new one is ready (a Deployment), not in a DaemonSet or StatefulSet, which ends a pod before it makes the next. The message has the refusal's own sentence: our webhook's (see [refusals](#decisions-on-pods)), another webhook's, a quota's. Correct what it names; nothing else is needed.";
const rolloutStalled =
  'A StatefulSet, DaemonSet or Job, or the Job of a CronJob, has made no new pod for a minute. These kinds do not say why in their status; `kubectl describe`, as the message writes it, shows the event.';
const wouldBeRefused =
  "Every new pod of this template would be refused, so the workload is left as it is: not enrolled, or, where it is enrolled already, not restarted by the operator. The message has the refusal's own sentence; [refusals](#decisions-on-pods) say what to do. Enrolment follows by itself.";

const conflicts = Object.fromEntries(conflictReasons.map((reason) => [reason, wouldBeRefused])) as Meanings<
  (typeof conflictReasons)[number]
>;

export const agentRuntimeMeanings: ConditionMeanings<typeof agentRuntimeReasons> = {
  TargetResolved: {
    about: 'Whether the workload that `spec.targetRef` names can be enrolled.',
    reasons: {
      TargetFound: 'The workload exists.',
      TargetNotFound: 'It does not, or not in this namespace. Create it; nothing else is needed.',
      TargetUnavailable:
        'The operator may not read this kind of workload, or the API server does not serve it. Give its account the right that the message names.',
      TargetUnsupported: 'The kind cannot be enrolled. The message lists those that can.',
      TargetImmutable:
        'A Job that may already run keeps its template. Create it with `spec.suspend: true`, resume it when the AgentRuntime is Active.',
      SystemNamespace:
        "The AgentRuntime is in one of Kubernetes' own namespaces or in the operator's, where no pod is ever injected. Nothing is enrolled there, and what was is released. Delete it; an agent belongs in another namespace.",
    },
  },
  ConfigResolved: {
    about: 'Whether the layers of configuration that concern the workload could be read and merged.',
    reasons: {
      ConfigResolved: 'Every layer was read.',
      ConfigWarning:
        'Read, but ambiguous: for example two namespace-defaults ConfigMaps; the first by name is used. Merge them into one.',
      ConfigInvalid:
        'A layer cannot be used. The message names ConfigMap, key, line and path. Nothing running changes until it is mended.',
      ConfigUnavailable: 'A layer cannot be read; the operator goes on trying.',
    },
  },
  Ready: {
    about: 'Whether the workload is configured; `status.phase` says the same in a word.',
    reasons: {
      Configured: 'Label and hash are on the workload.',
      TargetNotFound: seeTarget,
      TargetUnavailable: seeTarget,
      TargetUnsupported: seeTarget,
      TargetImmutable: seeTarget,
      SystemNamespace: seeTarget,
      ConfigInvalid: seeConfig,
      ConfigUnavailable: seeConfig,
      DuplicateTarget: 'Another, older AgentRuntime has this target. Delete one of the two.',
      FieldConflict:
        'Another actor keeps removing our label or hash; the message names it. Make it [ignore the fields](../install.md#gitops); the operator tries again ever more slowly.',
      ...conflicts,
      RolloutPending: 'A platform change waits for its turn, or rollouts are paused (`rollout` of the configuration).',
      PodsRefused: podsRefused,
      RolloutStalled: rolloutStalled,
    },
  },
  PodsInjected: {
    about: 'Whether the running pods carry the sidecars, built from the configuration of now.',
    reasons: {
      AllInjected: 'Every pod carries the sidecars, or the workload wants no pods.',
      PodsAwaited:
        'Pods made from the enrolled template are awaited; Kubernetes replaces those from before the enrolment in its own order.',
      PodsRefused: podsRefused,
      RolloutStalled: rolloutStalled,
      PodsWithoutSidecars:
        'These pods do not carry them: they were created while the webhook could not be asked. Delete them, their successors will. Or, without names: pods from before the enrolment that nothing replaces, because the Deployment is paused, its update strategy waits for a person, or a new pod does not become ready.',
      PodsOutdated: 'These pods were built from an older configuration.',
      OlderDefaults:
        'These pods were built with the compiled defaults of another release; nothing to do, their successors take the new ones.',
      InjectionOff: 'A gate, the opt-out or the namespace says no; the message says which.',
    },
  },
  TrafficCaptured: {
    about: 'Whether everything passes the proxy. Present only in mode `proxy-sidecar`, where it is `False`.',
    reasons: {
      ExplicitProxy:
        'Nothing is redirected: calls pass only by `HTTP_PROXY`, and callers are asked for a token only at the container port `rossoctl-in`. See [what that means](../sidecar.md#without-net_admin-proxy-sidecar); mode `envoy-sidecar` enforces both.',
    },
  },
  SpiffeReady: {
    about: 'Whether new pods get a SPIFFE identity.',
    reasons: {
      SpiffeAvailable: 'Pods have an identity; `status.identity.spiffeId` says which.',
      SpiffeUnavailable:
        'The cluster has no CSI driver `csi.spiffe.io`. Install SPIRE with it. Pods start without identity, unless `mtlsMode: strict`.',
      SpiffeDisabled: 'A gate or label turned it off.',
    },
  },
  SkillsResolved: {
    about: 'Which skills the workload declares. Present only while the gate `skillDiscovery` is on.',
    reasons: {
      SkillsFound: 'The annotation `rossoctl.io/skills` was read.',
      SkillsInvalid: 'It is not a JSON array of strings. Correct it on the workload.',
    },
  },
};
