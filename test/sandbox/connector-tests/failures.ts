import type { ConnectorTest } from 'accounting-data-sdk/testing';

/** So many connectors run at once: most of the time of a case is waits. */
const LANES = 4;

/** Runs every case with one of some equal connectors. Returns the messages of the cases that fail, by name, in order. */
export async function failuresOf(
  make: (lane: number) => readonly ConnectorTest[] | Promise<readonly ConnectorTest[]>,
): Promise<ReadonlyMap<string, string>> {
  const lanes = await Promise.all(Array.from({ length: LANES }, async (_, lane) => await make(lane)));
  const names = lanes[0]?.map(({ name }) => name) ?? [];
  const left = names.keys();
  const failures = new Map<string, string>();
  const runLane = async (cases: readonly ConnectorTest[]) => {
    for (const place of left) {
      const { name, run } = cases[place] as ConnectorTest;
      await run().catch((error: Error) => failures.set(name, error.message));
    }
  };
  await Promise.all(lanes.map(runLane));
  return new Map([...failures].sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
}
