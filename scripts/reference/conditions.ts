/** The page of conditions, decisions, events and error codes: each word the sources use, with what it means and what to do. */

import { conditionReason, signatureReasons } from '../../runtime/api/conditions.ts';
import { webhooks } from '../../runtime/api/names.ts';
import { events } from './events.ts';
import { code, codes, pageText, table } from './markdown.ts';
import {
  failureMeanings,
  passedPodMeanings,
  passedResourceMeanings,
  refusedPodMeanings,
  refusedResourceMeanings,
} from './meanings/admission.ts';
import { agentCardMeanings } from './meanings/agent-card.ts';
import { agentRuntimeMeanings } from './meanings/agent-runtime.ts';
import { errorMeanings, synthesisMeanings } from './meanings/errors.ts';
import type { ConditionMeaning, Meanings } from './meanings/meanings.ts';
import { signatureMeanings } from './meanings/signatures.ts';

/** The page. */
export function conditionsPage(): string {
  return pageText({
    title: 'Conditions, decisions, events and error codes',
    intro: [
      'Reasons are for programs and stay what they are; messages are for people, and name object, field and next step. Where to begin when something does not',
      'work is told in [troubleshooting](../troubleshooting.md).',
    ].join('\n'),
    parts: [
      '## Conditions of an AgentRuntime',
      ...conditionParts('AgentRuntime', agentRuntimeMeanings),
      '## Conditions of an AgentCard',
      ...conditionParts('AgentCard', agentCardMeanings),
      ...admissionParts(),
      ...eventParts(),
      ...errorParts(),
    ],
  });
}

function conditionParts(kind: string, meanings: Readonly<Record<string, ConditionMeaning>>): readonly string[] {
  return Object.entries(meanings).flatMap(([type, { about, reasons }]) => [
    `### ${kind}: ${type}`,
    about,
    type === 'Verified' ? verifiedTable(reasons) : meaningTable(reasons),
  ]);
}

/** Words that mean the same share a row. */
function meaningTable(meanings: Meanings<string>): string {
  const alike = Object.groupBy(Object.keys(meanings), (word) => meanings[word] ?? '');
  const rows = Object.entries(alike).map(([meaning, words = []]) => [codes(words), meaning]);
  return table(['reason', 'what it means, and what to do'], rows);
}

function verifiedTable(reasons: Meanings<string>): string {
  const rows = Object.entries(reasons).map(([reason, meaning]) => [code(reason), '', meaning]);
  const signatures = signatureReasons.map((reason) => [
    code(conditionReason(reason)),
    code(reason),
    signatureMeanings[reason],
  ]);
  return table(['reason', 'as a word', 'what it means, and what to do'], [...rows, ...signatures]);
}

function admissionParts(): readonly string[] {
  const validators = codes([webhooks.agentRuntime.name, webhooks.agentCard.name]);
  return [
    '## Decisions on pods',
    [
      `Of ${code(webhooks.inject.name)}: in the message of a refusal, in the warning where a pod is let through as it is, and in`,
      '`rossoctl_admission_decisions_total{webhook,decision,reason}`. A refused pod is answered 403 `Forbidden`; its workload shows it in its events, and the',
      'AgentRuntime in `PodsRefused`.',
    ].join('\n'),
    'Refused:',
    meaningTable(refusedPodMeanings),
    'Let pass:',
    meaningTable(passedPodMeanings),
    '## Decisions on AgentRuntimes and AgentCards',
    `Of ${validators}, counted in the same metric. A refusal is answered 403 \`Forbidden\` with a sentence that begins with the path of the field.`,
    'Refused:',
    meaningTable(refusedResourceMeanings),
    'Let pass:',
    meaningTable(passedResourceMeanings),
    '## Requests without a decision',
    [
      'The webhooks fail closed: the API server then refuses what was asked. Besides these, 429 says that too much is under way at once and 413 that the body is',
      'too large.',
    ].join('\n'),
    meaningTable(failureMeanings),
  ];
}

function eventParts(): readonly string[] {
  return [
    '## Events',
    'One event a change, none while nothing changes; most have the reason of a condition.',
    table(
      ['event', 'type', 'of', 'when'],
      events().map(({ reasons, type, regarding, when }) => [codes(reasons), type, regarding, when]),
    ),
  ];
}

function errorParts(): readonly string[] {
  const rows = (meanings: Meanings<string>, where: string) =>
    Object.entries(meanings).map(([word, meaning]) => [code(word), where, meaning]);
  return [
    '## Error codes',
    'Failures that are no decision. The log of the operator has them in `error.code`; exit codes are in [command lines](cli.md).',
    table(
      ['code', 'of', 'what it means, and what to do'],
      [...rows(errorMeanings, 'operator'), ...rows(synthesisMeanings, 'synthesis')],
    ),
  ];
}
