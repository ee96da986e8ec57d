/** The skills a workload declares, read from its annotation (feature gate `skillDiscovery`). */

import type { Finding } from '../api/conditions.ts';
import { annotations } from '../api/names.ts';
import type { Workload } from '../workload/workload.ts';

export interface Skills {
  /** Absent: none. At most 256, each at most 256 characters, in the order declared, each once. */
  readonly linkedSkills?: readonly string[];
  readonly finding: Finding;
}

const maxSkills = 256;
const maxLength = 256;

/** `declared` is the AgentRuntime's own list, which counts as well. An annotation that cannot be read clears the list and stops nothing. */
export function skills(workload: Workload, declared: readonly string[] = []): Skills {
  const text = workload.object.metadata.annotations?.[annotations.skills];
  const annotated = parse(text ?? '');
  if (annotated === undefined) {
    const message = `Annotation ${annotations.skills} of ${workload.ref.kind} ${workload.name} is no JSON array of strings; write it as ["first","second"].`;
    return { finding: { type: 'SkillsResolved', status: 'False', reason: 'SkillsInvalid', message } };
  }
  const all = [...new Set([...annotated, ...declared])];
  const kept = all.filter((skill) => skill !== '' && skill.length <= maxLength).slice(0, maxSkills);
  const message =
    kept.length === all.length
      ? 'The declared skills were read.'
      : `Only skills of 1 to ${maxLength} characters are listed, and at most ${maxSkills}; the others are left out.`;
  const finding: Finding = { type: 'SkillsResolved', status: 'True', reason: 'SkillsFound', message };
  return kept.length === 0 ? { finding } : { linkedSkills: kept, finding };
}

function parse(text: string): readonly string[] | undefined {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return isStrings(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
