/**
 * Pulls every account, a customer or supplier, into a map by id, and returns the number of pages.
 *
 * @param {import('accounting-data-sdk').Client} client
 * @param {{ signal?: AbortSignal }} [options]
 */
exports.pullAccounts = async function pullAccounts(client, { signal } = {}) {
  const accounts = new Map();
  let pages = 0;
  for await (const page of client.accounts.list({}, { signal }).pages()) {
    pages += 1;
    for (const account of page.records) accounts.set(account.id, account);
  }
  return { accounts, pages };
};
