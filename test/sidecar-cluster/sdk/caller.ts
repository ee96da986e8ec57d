/** Somebody who calls an agent with the public A2A SDK. */

import { randomUUID } from 'node:crypto';
import { type Part, Role, type TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

/** What one event of a stream said: a status's text, an artifact's, or ''. */
export interface Heard {
  readonly kind: string;
  readonly state: TaskState | undefined;
  readonly text: string;
  /** Milliseconds after the call. */
  readonly atMs: number;
}

/** Finds the agent by its card, sends it a message and listens to the end of the stream. */
export async function callAgent(url: string, token: string | undefined): Promise<readonly Heard[]> {
  const client = await new ClientFactory().createFromUrl(url);
  const message = {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'text', value: 'whose?' }, metadata: undefined, filename: '', mediaType: 'text/plain' },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  } satisfies Parameters<typeof client.sendMessageStream>[0]['message'];
  const begun = performance.now();
  const stream = client.sendMessageStream(
    { tenant: '', message, configuration: undefined, metadata: undefined },
    {
      serviceParameters: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(30_000),
    },
  );
  const heard: Heard[] = [];
  for await (const { payload } of stream) {
    const atMs = performance.now() - begun;
    if (payload === undefined) continue;
    const status = 'status' in payload.value ? payload.value.status : undefined;
    const artifact = payload.$case === 'artifactUpdate' ? payload.value.artifact : undefined;
    const text = textOf(artifact?.parts ?? status?.message?.parts ?? []);
    heard.push({ kind: payload.$case, state: status?.state, text, atMs });
  }
  return heard;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** The error of the refusal that a call ended with. The SDK takes any body with an `error` for JSON-RPC's and keeps it. */
export async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return (error as { readonly errorResponse?: { readonly error: unknown } }).errorResponse?.error ?? error;
  }
  return undefined;
}
