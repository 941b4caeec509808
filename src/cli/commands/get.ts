import { type CollectionName, collections } from '../../collections/index.ts';
import { jsonText } from '../../internal/json-text.ts';
import { collectionName } from '../collection-name.ts';
import type { AddCommand } from '../command.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';

/** `accounting-data-sdk get`: one record. */
export const addGet: AddCommand = (program, io) => {
  connectable(
    program
      .command('get')
      .description('print one record as JSON')
      .argument('<collection>', 'such as accounts or account-addresses', collectionName)
      .argument('<id>', 'the identifier of the record'),
    ['accounting-data-sdk get accounts 42', 'accounting-data-sdk get products 17 | jq .salePrice'],
  ).action(async (name: CollectionName, id: string, flags: ConnectFlags) => {
    const client = await connect(io, flags);
    // As the service sends it: a field that does not fit the contract is to be seen, not to be an error.
    const collection = client.collection(collections[name].segment);
    io.out(jsonText(await collection.get(id, { signal: io.signal }), 2));
  });
};
