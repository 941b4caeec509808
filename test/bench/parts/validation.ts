import type { ValidateOptions, Way } from '../programs/validate.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram } from '../support/programs.ts';
import { interleave, median, shown } from '../support/rounds.ts';

const WAYS: readonly Way[] = ['JSON.parse alone', 'ours', 'zod looseObject', 'zod/mini looseObject'];

export async function validation({ rounds, quick }: Effort): Promise<Findings> {
  const times = await interleave(WAYS, rounds, (way) => {
    const options: ValidateOptions = { way, pages: quick ? 4 : 400 };
    return runProgram<number>('validate.ts', options);
  });
  const parse = times['JSON.parse alone'];
  const onTop = (way: Way) => times[way].map((time, round) => time - (parse[round] ?? Number.NaN));
  return {
    tables: [
      {
        title: 'Validation of a record of 68 fields, CPU µs on top of JSON.parse',
        columns: ['how', 'µs', 'whole, µs'],
        rows: WAYS.map((way) => [way, shown(onTop(way), 2), shown(times[way], 2)]),
      },
    ],
    figures: { validation: median(onTop('ours')) },
  };
}
