/** How the demo speaks: numbered steps, what was done, and real output indented beneath. */

export interface Narration {
  step(title: string): void;
  say(text: string): void;
  /** Output of a command, as it came. */
  show(text: string): void;
}

export function narration(out: { write(text: string): unknown }): Narration {
  const started = performance.now();
  let number = 0;
  return {
    step: (title) => {
      number++;
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      out.write(`\n${number}. ${title}  (${seconds} s)\n\n`);
    },
    say: (text) => out.write(`   ${text}\n`),
    show: (text) =>
      out.write(
        `${text
          .trimEnd()
          .split('\n')
          .map((line) => `     ${line}\n`)
          .join('')}\n`,
      ),
  };
}
