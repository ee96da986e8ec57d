// What the Pulumi CLI starts to run a program in Node: tells where it listens, and starts the SDK's own runner for each run.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import grpc, { type sendUnaryData, type ServerUnaryCall, type UntypedServiceImplementation } from '@grpc/grpc-js';
import service from '@pulumi/pulumi/proto/language_grpc_pb.js';
import messages, { type RunRequest, type RunResponse } from '@pulumi/pulumi/proto/language_pb.js';
import plugin from '@pulumi/pulumi/proto/plugin_pb.js';

const engine = process.argv.at(-1) ?? '';
/** The SDK's runner has told the user already. */
const toldAlready = 32;

function run({ request }: ServerUnaryCall<RunRequest, RunResponse>, answer: sendUnaryData<RunResponse>): void {
  const info = request.getInfo();
  const options = {
    organization: request.getOrganization(),
    project: request.getProject(),
    stack: request.getStack(),
    'root-directory': info?.getRootDirectory() ?? '',
    pwd: request.getPwd(),
    parallel: String(request.getParallel()),
    monitor: request.getMonitorAddress(),
    engine,
    'dry-run': request.getDryrun() ? 'true' : '',
  };
  const flags = Object.entries(options).flatMap(([name, value]) => (value === '' ? [] : [`--${name}=${value}`]));
  const child = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve('@pulumi/pulumi/cmd/run/index.js')), ...flags, info?.getEntryPoint() ?? '.'],
    {
      cwd: info?.getProgramDirectory() ?? request.getPwd(),
      env: {
        ...process.env,
        PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().entries())),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
        PULUMI_NODEJS_TYPESCRIPT: 'false',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  child.once('error', (error) => answer(error));
  child.once('exit', (code, signal) => {
    const response = new messages.RunResponse();
    if (code === toldAlready) response.setBail(true);
    else if (code !== 0) response.setError(`the program ended with ${signal ?? `exit code ${code}`}`);
    answer(null, response);
  });
}

const reply =
  (make: () => unknown) =>
  (_: unknown, answer: sendUnaryData<unknown>): void =>
    answer(null, make());

function pluginInfo(): unknown {
  const info = new plugin.PluginInfo();
  info.setVersion('1.0.0');
  return info;
}

// What is missing here is answered as not implemented.
const handlers = {
  run,
  getPluginInfo: reply(pluginInfo),
  getRequiredPackages: reply(() => new messages.GetRequiredPackagesResponse()),
  getProgramDependencies: reply(() => new messages.GetProgramDependenciesResponse()),
} as unknown as UntypedServiceImplementation;

const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 });
server.addService(service.LanguageRuntimeService, handlers);
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`${port}\n`);
});

// A CLI that is killed does not say goodbye.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 1_000);
