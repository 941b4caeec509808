import { type ConnectorTest, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';

/** What a case rejects with. */
export async function messageOf(name: string, options: ConnectorTestsOptions): Promise<string | undefined> {
  const found = connectorTests(options).find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/**
 * Runs the cases with one of `lanes` equal connectors, because most of the time of a case is waits, and the last ones
 * first, because they take longest. Returns the messages of the cases that fail, by name.
 */
export async function failuresOf(
  make: (lane: number) => readonly ConnectorTest[] | Promise<readonly ConnectorTest[]>,
  { lanes = 4, names }: { readonly lanes?: number; readonly names?: readonly string[] | undefined } = {},
): Promise<ReadonlyMap<string, string>> {
  const suites = await Promise.all(Array.from({ length: lanes }, async (_, lane) => await make(lane)));
  const known = suites[0]?.map(({ name }) => name) ?? [];
  const left = (names ?? known).toReversed().values();
  const failures = new Map<string, string>();
  const runLane = async (cases: readonly ConnectorTest[]) => {
    for (const name of left) {
      const found = cases.find((each) => each.name === name);
      if (found === undefined) throw new Error(`There is no case ${name}.`);
      await found.run().catch((error: Error) => failures.set(name, error.message));
    }
  };
  await Promise.all(suites.map(runLane));
  return new Map([...failures].sort(([a], [b]) => known.indexOf(a) - known.indexOf(b)));
}
