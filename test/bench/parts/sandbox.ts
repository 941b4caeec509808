import type { Effort, Findings } from '../support/part.ts';
import { printedBy } from '../support/rows-of.ts';

const LINE = /^ {2}(.+?) +([\d,]+) requests\/s +(\d+) µs +([\d.]+) of the rate, ([\d.]+) by processor time$/;

export async function sandbox(_: Effort): Promise<Findings> {
  const printed = await printedBy('sandbox-throughput.ts');
  const rows: string[][] = [];
  const shares: number[] = [];
  let collection = '';
  for (const line of printed.split('\n')) {
    const [, name, rate, cpu, share, byCpu] = LINE.exec(line) ?? [];
    if (name === undefined) collection = /^\w+/.exec(line)?.[0] ?? collection;
    else rows.push([collection, name, rate ?? '', cpu ?? '', share ?? '', byCpu ?? '']);
    // The goal is about a page that both have: the other line also works records out.
    if (name === 'sandbox, the same page') shares.push(Number(share));
  }
  return {
    tables: [
      {
        title: 'Requests a second of the sandbox beside a bare node:http server',
        columns: ['collection', 'server', 'requests/s', 'CPU µs', 'of the rate', 'by CPU'],
        rows,
      },
    ],
    figures: { sandbox: Math.min(...shares) },
  };
}
