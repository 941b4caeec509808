// Two hundred deaths. `KILLS` sets another number, `SEED` another beginning.

import { killOften, prepare } from './kill/kill.ts';

const LANES = 2;

export async function soakKills(): Promise<boolean> {
  const kills = Number(process.env.KILLS ?? 200);
  const first = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const fixtures = await prepare();
  try {
    const lanes = Array.from({ length: LANES }, (_, lane) => {
      const seed = first + lane;
      return killOften(fixtures, { kills: Math.ceil(kills / LANES), seed }).then((verdict) => ({
        seed,
        ...verdict,
      }));
    });
    const verdicts = await Promise.all(lanes);
    for (const { seed, kills: done, afterFirstCheckpoint, broken, differences } of verdicts) {
      console.log(
        `kill: seed ${seed}: ${done} kills, ${afterFirstCheckpoint} of them with a copy begun; ${broken.length} checkpoints ahead or rows twice, ${differences.length} differences at the end`,
      );
      for (const what of [...broken, ...differences]) console.log(`  ${what}`);
    }
    return verdicts.every(({ broken, differences }) => broken.length === 0 && differences.length === 0);
  } finally {
    await fixtures.clear();
  }
}

if (process.argv[1] === import.meta.filename && !(await soakKills())) process.exitCode = 1;
