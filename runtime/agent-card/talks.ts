/** Keeps up the contact with each card's agent, and remembers what it last said while there is nobody to ask. */

import type { AgentCard } from '../api/agent-card.ts';
import { targetIndex } from '../workload/watches.ts';
import type { Contact, Contacts, Endpoints, Received, Wanted } from './contact.ts';
import type { Talk } from './observed.ts';
import { periodOf } from './period.ts';

export interface Partner {
  /** uid of the workload; undefined: it cannot be read now. */
  readonly workload: string | undefined;
  /** Undefined: it cannot be reached now. */
  readonly endpoints: Endpoints | undefined;
  /** See `Wanted.isNew`. */
  readonly isNew: boolean;
  /** Since when an earlier process is known to have had no answer; undefined: that is not known. */
  readonly silentSince: Date | undefined;
}

export interface Talks {
  /** Anything was said of this card in this process. */
  has(card: AgentCard): boolean;
  /** Its agent has answered in this process. */
  hasAnswered(card: AgentCard): boolean;
  /** Idempotent. What another workload than this one said is forgotten. */
  with(card: AgentCard, partner: Partner): Talk;
  /** Asks once more, for the body. */
  askAgain(card: AgentCard): void;
  forget(uid: string): void;
}

export interface TalksOptions {
  readonly contacts: Contacts;
  /** Sync periods without an answer after which a verdict does not stand any more. */
  readonly verdictSyncPeriods: number;
  readonly now: () => Date;
}

/** What is left of a contact that is not kept up. */
interface Memory {
  /** As the card named it. */
  readonly target: string;
  readonly workload: string | undefined;
  readonly received: Received | undefined;
  readonly answeredAt: Date | undefined;
  /** From when on an answer has been waited for. */
  readonly since: Date;
  /** No answer came in time, and none has come since, however long patience has become. */
  readonly isLost: boolean;
}

/** A body up to this size is remembered, in bytes; a larger one must be asked for again. */
const keptBytes = 65_536;

/** Nobody was ever asked. */
export const silence: Talk = Object.freeze({
  received: undefined,
  failure: undefined,
  answeredAt: undefined,
  isAnswered: false,
  isLost: false,
  lostAt: undefined,
  via: '',
});

export function createTalks({ contacts, verdictSyncPeriods, now }: TalksOptions): Talks {
  const memories = new Map<string, Memory>();
  const forget = (uid: string): void => {
    memories.delete(uid);
    contacts.forget(uid);
  };
  const contactWith = ({ metadata }: AgentCard, wanted: Omit<Wanted, 'endpoints'>, endpoints?: Endpoints) => {
    const { uid = '', namespace, name = '' } = metadata;
    if (endpoints !== undefined) contacts.keep(uid, { namespace, name }, { endpoints, ...wanted });
    const contact = contacts.of(uid);
    if (endpoints === undefined) contacts.forget(uid);
    return contact;
  };
  return {
    has: ({ metadata }) => memories.has(metadata.uid ?? ''),
    hasAnswered: ({ metadata }) => memories.get(metadata.uid ?? '')?.answeredAt !== undefined,
    with: (card, { workload, endpoints, isNew, silentSince }) => {
      const { uid = '' } = card.metadata;
      const target = targetIndex(card.spec.targetRef);
      if (isOther(memories.get(uid), { target, workload })) forget(uid);
      const periodMs = periodOf(card);
      const patienceMs = verdictSyncPeriods * periodMs;
      const contact = contactWith(card, { periodMs, patienceMs, isNew }, endpoints);
      const memory = remembered(memories.get(uid), { contact, target, workload, since: silentSince ?? now() });
      const lostAt = new Date((memory.answeredAt ?? memory.since).getTime() + patienceMs);
      const isWatched = endpoints !== undefined && contact?.answeredAt !== undefined;
      const isLost = memory.isLost || (!isWatched && now().getTime() >= lostAt.getTime());
      memories.set(uid, { ...memory, isLost });
      return {
        ...silence,
        received: contact?.received ?? memory.received,
        answeredAt: memory.answeredAt,
        ...(endpoints === undefined ? {} : { ...saidBy(contact), via: contact?.via ?? endpoints[0].via }),
        isLost,
        // One that has answered and is asked on: the contacts tell when it is lost. Else time runs from the last answer, or from the first wish for one.
        lostAt: isWatched ? undefined : lostAt,
      };
    },
    askAgain: ({ metadata }) => contacts.refresh(metadata.uid ?? ''),
    forget,
  };
}

/** By name, or by uid where both are known: one of a kind that cannot be read now has none. */
function isOther(memory: Memory | undefined, { target, workload }: Pick<Memory, 'target' | 'workload'>): boolean {
  if (memory === undefined) return false;
  const isNamesake = workload !== undefined && memory.workload !== undefined && memory.workload !== workload;
  return isNamesake || memory.target !== target;
}

function saidBy(contact: Contact | undefined): Pick<Talk, 'failure' | 'isAnswered'> {
  return { failure: contact?.failure, isAnswered: contact?.answeredAt !== undefined };
}

interface Heard {
  readonly contact: Contact | undefined;
  readonly target: string;
  readonly workload: string | undefined;
  readonly since: Date;
}

function remembered(memory: Memory | undefined, { contact, target, workload, since }: Heard): Memory {
  const received = contact?.received;
  const isKept = (received?.body?.length ?? 0) <= keptBytes;
  return {
    target,
    workload: workload ?? memory?.workload,
    received: received === undefined ? memory?.received : isKept ? received : { ...received, body: undefined },
    answeredAt: contact?.answeredAt ?? memory?.answeredAt,
    since: memory?.since ?? since,
    isLost: isStillLost(memory, contact),
  };
}

/** Only an answer ends it. */
function isStillLost(memory: Memory | undefined, contact: Contact | undefined): boolean {
  const isAnswered = contact?.answeredAt !== undefined;
  return contact?.isLost === true || (memory?.isLost === true && !isAnswered);
}
