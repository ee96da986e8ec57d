/** Which of iptables' two backends, nf_tables or the older x_tables, is the live one in this network namespace. */

export const backends = ['nft', 'legacy'] as const;
export type Backend = (typeof backends)[number];

/** What can be seen without changing anything. */
export interface Evidence {
  /** The backend that was asked for. */
  readonly wanted: Backend | undefined;
  /** The rules each backend holds here (IPv4, `iptables-save`); undefined where it cannot be read. */
  readonly saved: Readonly<Record<Backend, string | undefined>>;
  /** `/proc/modules`; undefined where the kernel has no modules. */
  readonly modules: string | undefined;
}

/** Backends to try, best first, and why the first is. */
export interface Choice {
  readonly order: readonly [Backend, ...Backend[]];
  readonly because: string;
}

interface Clue {
  readonly because: string;
  readonly points: (evidence: Evidence) => Backend | undefined;
}

/**
 * The first clue that points to a backend decides which is tried first. Either works for the kernel as long as it takes the rules, even beside
 * the other, so the other is tried where the first refuses; what proves a backend live is that the rules were read back from it.
 */
const clues: readonly Clue[] = [
  { because: 'an earlier run left its chains there', points: ({ saved }) => richest(saved, /^:ROSSOCTL_/gm) },
  { because: 'it already holds rules of others', points: ({ saved }) => richest(saved, /^-A /gm) },
  { because: 'it alone is loaded', points: ({ modules }) => loadedAlone(modules) },
  { because: 'it is the current one', points: () => 'nft' },
];

/** Which backend to try first, and which after it. */
export function backendChoice(evidence: Evidence): Choice {
  if (evidence.wanted !== undefined) return { order: [evidence.wanted], because: 'IPTABLES_BACKEND says so' };
  const clue = clues.find(({ points }) => points(evidence) !== undefined);
  const first = clue?.points(evidence) ?? 'nft';
  return { order: [first, first === 'nft' ? 'legacy' : 'nft'], because: clue?.because ?? '' };
}

/** The backend with more matches; undefined when they are equal. */
function richest(saved: Evidence['saved'], pattern: RegExp): Backend | undefined {
  const count = (backend: Backend) => saved[backend]?.match(pattern)?.length ?? 0;
  const difference = count('nft') - count('legacy');
  if (difference === 0) return undefined;
  return difference > 0 ? 'nft' : 'legacy';
}

/** A module that is not listed may be built in: only one without the other tells something. */
function loadedAlone(modules: string | undefined): Backend | undefined {
  const has = (name: RegExp) => name.test(modules ?? '');
  const nft = has(/^nf_tables /m);
  const legacy = has(/^ip_tables /m);
  if (nft === legacy) return undefined;
  return nft ? 'nft' : 'legacy';
}

/**
 * True in the network namespace of a node: the kubelet and kube-proxy keep chains there that no pod has. Rules of ours would capture the
 * traffic of every pod and of the node itself.
 */
export function isNode({ saved }: Evidence): boolean {
  return backends.some((backend) => /^:KUBE-/m.test(saved[backend] ?? ''));
}
