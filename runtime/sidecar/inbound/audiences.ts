/** Reads lists of audiences: whom tokens may be for besides the pod's own client, and whom its own are for. */

import { Type } from 'typebox';
import { readJsonSetting, type Setting } from '../json-setting.ts';

const schema = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 64 });

/** The variable `name`, such as `ALLOWED_AUDIENCES`: a JSON list. Nothing: none. */
export function readAudiences(name: string, text: string | undefined): Setting<readonly string[]> {
  return readJsonSetting<readonly string[]>(name, text, { schema, empty: [], rules: () => [] });
}
