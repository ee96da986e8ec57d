/** An agent as people write them with the public A2A SDK: it asks a tool by MCP with its caller's `Authorization`, and streams what it hears. */

import { randomUUID } from 'node:crypto';
import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, type AgentCard, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  type RequestHeaders,
  STATE_HEADERS_KEY,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';

const { PUBLIC_URL: publicUrl = '', TOOL_URL: toolUrl = '' } = process.env;

const card: AgentCard = {
  name: 'planner',
  description: 'Asks a tool whose token it holds.',
  version: '1.0.0',
  supportedInterfaces: [
    { url: publicUrl, protocolBinding: 'JSONRPC', protocolVersion: A2A_PROTOCOL_VERSION, tenant: '' },
  ],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
};

type Told = (text: string) => void;

/** Asks the tool for whoever sent this header; `told` hears of its progress. */
async function askTool(authorization: string, told: Told): Promise<string> {
  const client = new Client({ name: 'planner', version: '1.0.0' });
  const requestInit = { headers: { authorization } };
  const transport = new StreamableHTTPClientTransport(new URL(toolUrl), { requestInit });
  await client.connect(transport);
  try {
    const onprogress = ({ progress }: { progress: number }) => told(`step ${progress}`);
    const { content } = await client.callTool({ name: 'whose', arguments: {} }, undefined, { onprogress });
    const [first] = content as readonly { readonly text?: string }[];
    return first?.text ?? '';
  } finally {
    await transport.terminateSession();
    await client.close();
  }
}

class Planner implements AgentExecutor {
  async execute({ taskId, contextId, userMessage, context }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const named = { taskId, contextId };
    const say = (state: TaskState, text = '') =>
      bus.publish(AgentEvent.statusUpdate({ ...named, status: statusOf(state, text, named), metadata: undefined }));
    const status = statusOf(TaskState.TASK_STATE_SUBMITTED, '', named);
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }),
    );
    try {
      const headers = context.state.get(STATE_HEADERS_KEY) as RequestHeaders;
      const heard = await askTool(String(headers['authorization']), (text) => say(TaskState.TASK_STATE_WORKING, text));
      const artifact = {
        artifactId: randomUUID(),
        name: 'whose',
        description: '',
        parts: [textPart(heard)],
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({ ...named, artifact, lastChunk: true, append: false, metadata: undefined }),
      );
      say(TaskState.TASK_STATE_COMPLETED);
    } catch (error) {
      say(TaskState.TASK_STATE_FAILED, String(error));
    }
  }

  cancelTask(): Promise<void> {
    return Promise.resolve();
  }
}

function statusOf(state: TaskState, text: string, named: { readonly taskId: string; readonly contextId: string }) {
  const message = {
    ...named,
    messageId: randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  return { state, message: text === '' ? undefined : message, timestamp: new Date().toISOString() };
}

function textPart(text: string) {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  } as const;
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Planner());
const app = createMcpExpressApp({ host: '0.0.0.0' });
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(8080);
