/** What Envoy answers when it could not pass a request on, and what becomes of the connection that the request came by. */

import { extension, type JsonObject, metadata } from './names.ts';

/** Marks our answers for the filter, which takes it away again. */
const mark = 'x-rossoctl-unreachable';

const answer = (filter: JsonObject, error: string, description: string): JsonObject => ({
  filter,
  headersToAdd: [{ header: { key: mark, value: '1' } }],
  bodyFormatOverride: {
    contentType: 'application/json',
    jsonFormat: { error, error_description: description },
  },
});

const flagged = (flags: readonly string[]): JsonObject => ({ responseFlagFilter: { flags: [...flags] } });

/** JSON like our own refusals, with Envoy's words for why. */
export const unreachable: JsonObject = answer(
  flagged(['UF', 'UC', 'UH', 'NC']),
  'destination_unavailable',
  'The request was let through, and its destination does not answer: %RESPONSE_CODE_DETAILS%.',
);

/** The processor said that a request leaves by mutual TLS alone. */
export const isForMtls: JsonObject = {
  filter: metadata.namespace,
  path: [{ key: metadata.mtls }],
  value: { boolMatch: true },
};

/** The same for what may leave by mutual TLS alone, by Envoy's flags: which side it failed on. It is never sent on without. */
const mtlsFailures: readonly (readonly [flags: readonly string[], why: string])[] = [
  [['NC'], 'this pod has no identity in use; try again'],
  [
    ['UC'],
    "the destination ended the connection without an answer, as one does that does not take this pod's certificate: %RESPONSE_CODE_DETAILS%",
  ],
  [
    ['UF', 'UH'],
    'the destination does not answer (Connection_refused), speaks no TLS (WRONG_VERSION_NUMBER), or has no certificate that is trusted here (CERTIFICATE_VERIFY_FAILED): %UPSTREAM_TRANSPORT_FAILURE_REASON%',
  ],
];

export const mtlsFailed: readonly JsonObject[] = mtlsFailures.map(([flags, why]) => {
  const isDecided = { metadataFilter: { matcher: isForMtls, matchIfKeyNotFound: false } };
  return answer(
    { andFilter: { filters: [isDecided, flagged(flags)] } },
    'mtls_failed',
    `The request may leave by mutual TLS alone, and that failed: ${why}.`,
  );
});

/**
 * Ends the connection after such an answer. The address on the other side was chosen when the caller connected: one that keeps its connection would ask a
 * pod that is ending, or is gone, for as long as it lives. Without Envoy it would have lost the connection, and the next would lead elsewhere.
 */
export const partFromUnreachable: JsonObject = extension(
  'envoy.filters.http.lua',
  'envoy.extensions.filters.http.lua.v3.Lua',
  {
    defaultSourceCode: {
      inlineString: `function envoy_on_response(handle)
  local headers = handle:headers()
  if headers:get("${mark}") ~= nil then
    headers:remove("${mark}")
    handle:streamInfo():drainConnectionUponCompletion()
  end
end
`,
    },
  },
);
