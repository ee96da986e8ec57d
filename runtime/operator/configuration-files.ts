/** The mounted configuration files as live values: a bad file from the start is a bad layer, a bad reload keeps the last good text. */

import type { Layer, LayerProblem, LayerSource } from '../config/layers.ts';
import type { FileText } from '../config/read.ts';
import { isProblem, parseConfig, parseGates } from '../config/sources.ts';
import { EngineError } from '../engine/errors.ts';
import { type LiveFile, openLiveFile } from '../engine/live-file.ts';
import type { Metrics } from '../engine/metrics.ts';
import type { Log } from '../engine/types.ts';

export interface ConfigurationFiles {
  readonly config: LiveFile<FileText>;
  readonly gates: LiveFile<FileText>;
  stop(): void;
}

interface Opening {
  readonly log: Log;
  readonly metrics: Metrics;
}

type Parse = (text: string, source: LayerSource) => Layer<unknown> | LayerProblem;

function open(path: string, parse: Parse, { log, metrics }: Opening): Promise<LiveFile<FileText>> {
  const empty: FileText = { text: undefined, path };
  const shared = { path, empty, log, metrics };
  const checked = (text: string): FileText => {
    const result = parse(text, { layer: 'file', where: path });
    if (isProblem(result)) throw new EngineError('CONFIG_INVALID', result.message);
    return { text, path };
  };
  return openLiveFile({ ...shared, parse: checked }).catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.code !== 'LIVE_FILE_INVALID') throw error;
    log.error('configuration file refused, there is no good value to keep', { path, error });
    return openLiveFile({ ...shared, parse: (text) => ({ text, path }) });
  });
}

/** Opens both; absent files set nothing. */
export async function openConfigurationFiles(
  paths: { readonly config: string; readonly gates: string },
  opening: Opening,
): Promise<ConfigurationFiles> {
  const config = await open(paths.config, parseConfig, opening);
  const gates = await open(paths.gates, parseGates, opening);
  return {
    config,
    gates,
    stop: () => {
      config.stop();
      gates.stop();
    },
  };
}
