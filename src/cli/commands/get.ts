import { type CollectionName, isApiError } from 'accounting-data-sdk';
import type { Command } from 'commander';
import { collectionName } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import type { CommandIo } from '../io.ts';

/** `accounting-data-sdk get`: one record. */
export function addGet(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('get')
      .description('print one record as JSON')
      .argument('<collection>', 'such as accounts or account-addresses', collectionName)
      // Not required for the parser, which would report it before a misspelt collection.
      .argument('[id]', 'required: the identifier of the record')
      .usage('[options] <collection> <id>'),
    ['accounting-data-sdk get accounts 42', 'accounting-data-sdk get products 17 | jq .salePrice'],
  ).action(async (name: CollectionName, id: string | undefined, flags: ConnectFlags, command: Command) => {
    if (id === undefined) return command.error("error: missing required argument 'id'");
    const { client } = await connect(io, flags);
    // Without a schema: an invalid record is printed, so that the user can see it.
    const collection = client.collection(client[name].segment, {});
    try {
      io.out(JSON.stringify(await collection.get(id, { signal: io.signal }), undefined, 2));
    } catch (error) {
      // Some services send the same 404 for a wrong path as for a missing record.
      if (isApiError(error, 'not_found'))
        await client.request({ path: [collection.segment] }, { signal: io.signal });
      throw error;
    }
  });
}
