/** Keeps an HTTP/2 stream that its request has let go of from ending the process. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { isObject } from './json.ts';

const channel = 'http2.client.stream.created';

/**
 * Gives every HTTP/2 client stream of this process a listener for errors, until the returned function is called. undici reports errors of
 * a stream through its request; one that arrives after the request has ended (the connection breaks while an aborted stream still
 * closes) has no listener there, and Node then ends the process (WT-01).
 */
export function catchStreamErrors(): () => void {
  const onCreated = (message: unknown): void => {
    const stream = isObject(message) ? message['stream'] : undefined;
    if (stream instanceof EventEmitter) stream.on('error', ignore);
  };
  subscribe(channel, onCreated);
  return () => void unsubscribe(channel, onCreated);
}

function ignore(): void {}
