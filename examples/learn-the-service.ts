/**
 * Learns what the contract does not show, before a line of a connector is written: how the service pages, orders and
 * filters, and what the records of a collection look like.
 *
 * Without ACCOUNTING_BASE_URL it asks a sandbox on this machine that has habits of its own. It only reads.
 */
import { type Client, createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { discover, probe } from 'accounting-data-sdk/tools';

/** What was learned. */
export interface Learned {
  /** Options for `createClient`, `sync` and lists, each as it is written. */
  readonly options: readonly string[];
  /** What cannot be told by reading. */
  readonly unknown: readonly string[];
  /** Schemas for `createClient({ schemas })`, as TypeScript. */
  readonly schemas: string;
}

export async function learn(client: Client, say: (line: string) => void): Promise<Learned> {
  const collections = ['accounts', 'bomLines', 'products'] as const;
  const report = await probe(client, {
    collections,
    onPlan: ({ requests, atMost }) =>
      say(`About ${requests} requests, at most ${atMost}, all of them reading.`),
  });
  for (const { collection, details } of report.collections) {
    if (details === undefined) continue;
    const { pageSize, order, id, updatedSince } = details;
    say(
      `${collection}: ${pageSize.value} a page, ${order.value}, id[gt] ${id.gt.value}, updatedSince ${updatedSince.verdict.value}`,
    );
  }
  const { source } = await discover(client, { collections, sample: 200 });
  return {
    options: report.configuration.map(({ code, reason }) => `${code} // ${reason}`),
    unknown: Object.entries(report.writes).flatMap(([name, finding]) =>
      'known' in finding && !finding.known ? [name] : [],
    ),
    schemas: source,
  };
}

if (process.argv[1] === import.meta.filename) {
  const ownService = process.env.ACCOUNTING_BASE_URL;
  const sandbox =
    ownService === undefined
      ? createSandbox({
          records: 900,
          pageSize: 20,
          order: 'id-desc',
          afterLastPage: 'not-found',
          betweenSeparator: ',',
        })
      : undefined;
  const { options, unknown, schemas } = await learn(createClient(sandbox?.clientOptions ?? {}), console.log);
  console.log(`\nOptions that follow:\n  ${options.join('\n  ')}`);
  console.log(`\nNot to be told by reading: ${unknown.join(', ')}`);
  console.log(`\nSchemas:\n\n${schemas}`);
}
