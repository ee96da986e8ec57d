/** What the conditions of an AgentCard mean, and what to do. */

import type { agentCardReasons } from '../../../runtime/api/conditions.ts';
import type { ConditionMeanings } from './meanings.ts';

const noWorkload = 'There is no workload to select pods by; see `Synced`.';

/** The rest of `Verified` are the reasons why a signature does not verify. */
export const agentCardMeanings: ConditionMeanings<typeof agentCardReasons> = {
  Synced: {
    about: 'Whether the card was fetched at the last attempt. A failed fetch keeps the last card.',
    reasons: {
      CardSynced: 'The card is served; the message says at which path and through what.',
      DuplicateTarget:
        'Another AgentCard for this workload comes first: hand-made before generated, then the older. Delete one of the two; a generated one goes by itself unless somebody else has written its spec.',
      WorkloadNotFound: 'The target does not exist in this namespace. Create it, or correct `spec.targetRef`.',
      WorkloadUnavailable:
        'The operator may not read objects of this kind. Give its account the right that the message names.',
      TargetUnsupported: 'Only Deployment, StatefulSet, DaemonSet, Job and CronJob can be targets.',
      NotAgentWorkload:
        'The workload is not labelled `rossoctl.io/type: agent`. Create an AgentRuntime of type `agent` for it, or delete the AgentCard; where there is one, its condition `Ready` says why the workload is not enrolled.',
      NoProtocol:
        'The workload has no label `protocol.rossoctl.io/<name>`. Set it on the workload, not on its pods, or delete the AgentCard.',
      WorkloadNotReady: 'No pod of it is ready. `kubectl get pods` shows why.',
      ServiceNotFound:
        'Nothing says where the card is served. Name a port `a2a`, or set annotation `rossoctl.io/port` on the Service.',
      Fetching: 'It has not been fetched yet; wait.',
      ConnectionFailed:
        'The connection was refused, reset, or did not speak HTTP. Look at the port and at network policies: the operator must get in.',
      Timeout: 'There was no complete answer in time.',
      TooLarge:
        'Card or headers are larger than is read (1 MiB, 16 KiB), or come in thousands of pieces or interim answers.',
      NotJSON: 'What came is no JSON; the message says what is wrong, and where.',
      NotACard: 'JSON, but no object; or a member occurs twice; or it is nested deeper than 64 levels.',
      Redirected: 'It redirects to another host, or too often. Serve the card where it is asked for.',
      HTTPStatus: 'Another status than 200; the message says which.',
    },
  },
  Verified: {
    about:
      'Whether the card is signed by an identity that may. Present only where signatures are verified. The words of metrics and of `rossoctl verify` are in the second column.',
    reasons: {
      SignatureVerified: 'A signature is good, its chain trusted, and its identity may sign.',
      NotFetched: 'There is no card to judge; see `Synced`.',
      ContactLost: 'The agent has not served its card for too long; see `Synced`.',
      TrustBundleUnavailable:
        'The bundle does not exist, holds nothing to trust, or may not be read. The message says what was looked for.',
      NotBound:
        'The signature is good, the identity is not one that may sign; see `Bound`, or the trust domain. The event is `BindingFailed`.',
    },
  },
  Bound: {
    about:
      "Whether the identity that signed is one that may. Present where `spec.identityBinding` is, and everywhere when the install's scope is `workload`.",
    reasons: {
      Bound: 'The identity that signed may.',
      TrustDomainMismatch:
        'It is of another trust domain. Sign with an SVID of the one that the message names, or name the other in `spec.identityBinding.trustDomain`.',
      WorkloadMismatch: "It is another workload's. Sign with the workload's own SVID, or check its ServiceAccount.",
      NoIdentity: 'No signature is good, so there is no identity to compare; see `Verified`.',
    },
  },
  Ready: {
    about: 'Whether the card can be relied on.',
    reasons: {
      CardReady:
        'It was fetched and, where signatures are verified, is verified; in audit mode the message says when it is not.',
      NotSynced: 'See `Synced`.',
      NotVerified: 'See `Verified`.',
      CardTooLarge: 'It is larger than 256 KiB and not stored. Make it smaller.',
    },
  },
  NetworkPolicyReady: {
    about:
      'How the network of the workload stands. Present only where [network policies](../network-policies.md) are enforced, on the card that counts for its workload.',
    reasons: {
      Permissive: 'The policy is there, open among verified agents.',
      Restrictive: 'The policy is there and closed; the message says why.',
      NameTaken:
        "A NetworkPolicy of that name is not the operator's; it is left as it is, and the agent is as open as it says. Rename or delete it.",
      Unenforced:
        "A NetworkPolicy of that name looks like the operator's, but the API server has no record of that: it was restored or copied. It is left as it is, and the agent is as open as it says. Delete it.",
      NameHeld:
        "The policy still selects the pods of another card's workload. It passes; else look at the card that the message names.",
      SelectsOperator: "The workload selects the operator's own pods, which are never cut off. Change its selector.",
      NoPodSelector: 'A CronJob, or an empty selector: a policy would select nothing, or the whole namespace.',
      HostNetwork:
        "Its pods use the host's network, where no NetworkPolicy applies: the policy is written and stops nothing. Remove `hostNetwork`.",
      TargetNotFound: noWorkload,
      TargetUnavailable: noWorkload,
      TargetUnsupported: noWorkload,
      ConfigInvalid:
        'A configuration was never read well by this process: an open policy stays as it is, a closed one stays closed. Correct what the message names.',
    },
  },
};
