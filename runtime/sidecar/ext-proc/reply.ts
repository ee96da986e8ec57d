/** A decision as Envoy's processor protocol says it. */

import { create, type Message } from '@bufbuild/protobuf';
import type { Decision, Pass, Refusal } from '../decision.ts';
import { metadata } from '../envoy/names.ts';
import { messageOf } from '../wire/registry.ts';
import { endpointText, type Headers } from './headers.ts';

const responseType = messageOf('envoy.service.ext_proc.v3.ProcessingResponse');

/** The answer to a request's headers, as a `ProcessingResponse`. */
export function reply(decision: Decision, headers: Headers): Message {
  return create(responseType, { ...(decision.kind === 'pass' ? passed(decision, headers) : refused(decision)) });
}

interface Reply {
  readonly response: { readonly case: string; readonly value: object };
  readonly dynamicMetadata?: object;
}

/** Headers that steer proxies or are ours to set. A client's never go on: it could turn on retries or time limits in Envoy, or speak for us. */
const reserved = /^x-(?:envoy|rossoctl)-/;

function passed({ set = {}, remove = [], destination, isMtls = false }: Pass, headers: Headers): Reply {
  const foreign = [...headers.keys()].filter((name) => reserved.test(name));
  // Envoy takes away first and sets then, so of a header that came twice one is left.
  const removeHeaders = [...new Set([...foreign, ...remove, ...Object.keys(set)])];
  const response = {
    headerMutation: { setHeaders: options(set), removeHeaders },
    // The route that Envoy has chosen is that of plain HTTP.
    ...(isMtls ? { clearRouteCache: true } : {}),
  };
  const way = {
    ...(destination === undefined ? {} : { [metadata.destination]: endpointText(destination) }),
    ...(isMtls ? { [metadata.mtls]: true } : {}),
  };
  const dynamicMetadata = Object.keys(way).length > 0 ? { dynamicMetadata: { [metadata.namespace]: way } } : {};
  return { response: { case: 'requestHeaders', value: { response } }, ...dynamicMetadata };
}

/** The body is the same JSON for every refusal; `details` is what Envoy's access log says of it. */
function refused({ status, error, description, headers = {}, reason }: Refusal): Reply {
  const body = Buffer.from(`${JSON.stringify({ error, error_description: description })}\n`);
  const value = {
    status: { code: status },
    headers: { setHeaders: options({ ...headers, 'content-type': 'application/json' }) },
    body,
    details: `rossoctl_${reason.replaceAll(/\W+/g, '_')}`,
  };
  return { response: { case: 'immediateResponse', value } };
}

/** `OVERWRITE_IF_EXISTS_OR_ADD`. */
const overwrite = 2;

function options(headers: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(headers).map(([key, value]) => ({
    header: { key, rawValue: Buffer.from(value, 'latin1') },
    appendAction: overwrite,
  }));
}
