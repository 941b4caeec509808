/** What is read before what, by name: a child refers to records of its parent. */
const PARENTS: Readonly<Record<string, string>> = {
  accountAddresses: 'accounts',
  accountContactRelations: 'accounts',
  accountContactShoppingStores: 'accounts',
  accountCustomerProjectRates: 'accounts',
  accountSettings: 'accounts',
  bankFeedAccounts: 'bankFeedConnections',
  boms: 'products',
  bomLines: 'boms',
  budgetLines: 'budgets',
};

function levelOf(name: string): number {
  const parent = Object.hasOwn(PARENTS, name) ? PARENTS[name] : undefined;
  return parent === undefined ? 0 : levelOf(parent) + 1;
}

/** The names in levels, parents before children; a name that is not known has no parent. Within a level as given. */
export function inLevels<Name extends string>(names: readonly Name[]): readonly (readonly Name[])[] {
  const levels: Name[][] = [];
  for (const name of names) {
    const level = levelOf(name);
    levels[level] = [...(levels[level] ?? []), name];
  }
  // A level of which nothing was asked for is a hole.
  return levels.filter((level) => level !== undefined);
}
