/** What runs in pods while `ready` is measured: Node programs that know nothing of any sidecar. Each prints one line of JSON. */

/** Waits until a URL answers 200, with a token where there is one; prints when that was, milliseconds since 1970. */
export const untilOk = `
const [url, token] = process.argv.slice(1);
const headers = token ? { authorization: 'Bearer ' + token } : {};
const ask = () => fetch(url, { headers, signal: AbortSignal.timeout(1_000) }).then(
  async (answer) => (await answer.arrayBuffer(), answer.status),
  () => 0,
);
(async () => {
  while ((await ask()) !== 200) await new Promise((done) => setTimeout(done, 20));
  console.log(JSON.stringify({ at: Date.now() }));
})();
`;

/** Calls a URL with a token, `callers` at a time for some seconds; prints how many calls were answered 200, and how many not. */
export const calling = `
const [url, token, callers, seconds] = process.argv.slice(1);
const end = Date.now() + Number(seconds) * 1_000;
const told = { ok: 0, failed: 0 };
const caller = async () => {
  while (Date.now() < end) {
    const answer = await fetch(url, { headers: { authorization: 'Bearer ' + token } }).catch(() => undefined);
    await answer?.arrayBuffer();
    told[answer?.status === 200 ? 'ok' : 'failed'] += 1;
  }
};
Promise.all(Array.from({ length: Number(callers) }, caller)).then(() => console.log(JSON.stringify(told)));
`;

/** An agent that answers 200 once a sidecar has been ready beside it; until then, and in a pod without one, it answers 503. */
export const waitingAgent = `
let isReady = false;
require('node:http').createServer(async (request, response) => {
  if (!isReady) isReady = (await fetch('http://127.0.0.1:15125/readyz').catch(() => undefined))?.status === 200;
  response.statusCode = isReady ? 200 : 503;
  response.end();
}).listen(8080);
`;

/** In the container of the sidecar: when its program began, and the resident memory of each process, now and at its peak, and its own part of what it has now, in KiB. */
export const looking = `
const fs = require('node:fs');
const read = (file) => fs.readFileSync(file, 'utf8');
const began = Number(read('/proc/1/stat').split(') ')[1].split(' ')[19]) / 100;
const at = Date.now() - (Number(read('/proc/uptime').split(' ')[0]) - began) * 1_000;
const field = (text, name) => Number(new RegExp('^' + name + ':\\\\s+(\\\\d+)', 'm').exec(text)?.[1] ?? 0);
const processes = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) !== process.pid).map((pid) => {
  const text = read('/proc/' + pid + '/status');
  return { pid: Number(pid), name: /^Name:\\s+(.*)/.exec(text)[1], now: field(text, 'VmRSS'), peak: field(text, 'VmHWM'), own: field(text, 'RssAnon') };
});
console.log(JSON.stringify({ at, processes }));
`;
