/** Envoy's lines as ours: its log has a level and a component, and its access log is JSON already. */

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly level: Level;
  /** Part of Envoy that speaks, such as `config` or `upstream`; empty when the line has another form. */
  readonly component: string;
  readonly message: string;
}

/** Envoy's `--log-format`. Line breaks within a message are escaped (`--log-format-escaped`). */
export const logFormat = '%l %n %v';

const levels: Readonly<Record<string, Level>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warning: 'warn',
  warn: 'warn',
  error: 'error',
  critical: 'error',
};

/** One line of standard error. What is not of the format (an abort, the C library) is an error. */
export function logLine(text: string): LogLine {
  const [word = '', component = '', ...rest] = text.split(' ');
  const level = levels[word];
  if (level === undefined || rest.length === 0) return { level: 'error', component: '', message: text };
  return { level, component, message: rest.join(' ') };
}
