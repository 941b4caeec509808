import { type ConnectorTest, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';

const messageOfCase = (cases: readonly ConnectorTest[], name: string): Promise<string | undefined> => {
  const found = cases.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
};

/** What a case rejects with. */
export const messageOf = (name: string, options: ConnectorTestsOptions) =>
  messageOfCase(connectorTests(options), name);

/**
 * The messages of the cases that fail, by name. Runs them with one of `lanes` equal connectors, because most of the time
 * of a case is waits, and the last ones first, because they take longest.
 */
export async function failuresOf(
  make: (lane: number) => readonly ConnectorTest[] | Promise<readonly ConnectorTest[]>,
  { lanes = 4, names }: { readonly lanes?: number; readonly names?: readonly string[] | undefined } = {},
): Promise<ReadonlyMap<string, string>> {
  const suites = await Promise.all(Array.from({ length: lanes }, async (_, lane) => await make(lane)));
  const left = (names ?? suites[0]?.map(({ name }) => name) ?? []).toReversed().values();
  const failures = new Map<string, string>();
  const runLane = async (cases: readonly ConnectorTest[]) => {
    for (const name of left) {
      const message = await messageOfCase(cases, name);
      if (message !== undefined) failures.set(name, message);
    }
  };
  await Promise.all(suites.map(runLane));
  return failures;
}
