import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureSettings } from '../../../../runtime/sidecar/capture/capture-settings.ts';
import { removalText, restoreText } from '../../../../runtime/sidecar/capture/restore.ts';
import { captureRules, line } from '../../../../runtime/sidecar/capture/rules.ts';
import { savedTables } from '../../../../runtime/sidecar/capture/saved.ts';
import { environment } from './environment.ts';

const rules = captureRules(captureSettings(environment), 'ipv4');
const empty = savedTables('');

test('into an empty pod: chains, rules and jumps, a COMMIT for each table', () => {
  const lines = restoreText(rules, empty).split('\n');
  assert.deepEqual(
    lines.filter((each) => /^[*:C]|^-[ID]/.test(each)),
    [
      '*nat',
      ':ROSSOCTL_INBOUND - [0:0]',
      ':ROSSOCTL_OUTBOUND - [0:0]',
      '-I PREROUTING 1 -p tcp -j ROSSOCTL_INBOUND',
      '-I OUTPUT 1 -p tcp -j ROSSOCTL_OUTBOUND',
      'COMMIT',
      '*mangle',
      ':ROSSOCTL_DELIVERY - [0:0]',
      '-I OUTPUT 1 -p tcp -j ROSSOCTL_DELIVERY',
      'COMMIT',
      '*filter',
      ':ROSSOCTL_ARRIVAL - [0:0]',
      '-I INPUT 1 -j ROSSOCTL_ARRIVAL',
      'COMMIT',
    ],
  );
  assert.deepEqual(lines.filter((each) => each.startsWith('-A ')).sort(), rules.map(line).sort());
});

test('jumps that are there already, however many and whatever they match, are replaced', () => {
  const saved = savedTables(
    '*nat\n-A OUTPUT -j OTHERS\n-A OUTPUT -p tcp -j ROSSOCTL_OUTBOUND\n-A OUTPUT -j ROSSOCTL_OUTBOUND\nCOMMIT\n',
  );
  assert.deepEqual(
    restoreText(rules, saved)
      .split('\n')
      .filter((each) => each.startsWith('-D')),
    ['-D OUTPUT -p tcp -j ROSSOCTL_OUTBOUND', '-D OUTPUT -j ROSSOCTL_OUTBOUND'],
  );
});

test('removal takes only ours, and nothing where there is nothing', () => {
  const saved = savedTables(
    '*nat\n:OTHERS - [0:0]\n:ROSSOCTL_OUTBOUND - [0:0]\n-A OUTPUT -p tcp -j ROSSOCTL_OUTBOUND\n-A OUTPUT -j OTHERS\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n',
  );
  assert.equal(
    removalText(saved),
    '*nat\n-D OUTPUT -p tcp -j ROSSOCTL_OUTBOUND\n-F ROSSOCTL_OUTBOUND\n-X ROSSOCTL_OUTBOUND\nCOMMIT\n',
  );
  assert.equal(removalText(empty), '');
});
