/** Reads whom tokens may be for, besides the pod's own client. */

import { Type } from 'typebox';
import { readJsonSetting, type Setting } from '../json-setting.ts';

const schema = Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: 64 });

/** The variable `ALLOWED_AUDIENCES`: a JSON list. Nothing: none. */
export function readAudiences(text: string | undefined): Setting<readonly string[]> {
  return readJsonSetting<readonly string[]>('ALLOWED_AUDIENCES', text, { schema, empty: [], rules: () => [] });
}
