/** Zones of which no Etc zone exists: their offset is not a whole number of hours. */
const OTHERS = new Map([
  [-570, 'Pacific/Marquesas'],
  [-210, 'America/St_Johns'],
  [210, 'Asia/Tehran'],
  [270, 'Asia/Kabul'],
  [330, 'Asia/Kolkata'],
  [345, 'Asia/Kathmandu'],
  [390, 'Asia/Yangon'],
  [525, 'Australia/Eucla'],
  [570, 'Australia/Darwin'],
  [630, 'Australia/Lord_Howe'],
]);

/** An IANA zone that is so many minutes ahead of UTC. The Etc zones count westward. */
export function zoneNameOf(minutes: number): string {
  const hours = minutes / 60;
  return OTHERS.get(minutes) ?? `Etc/GMT${hours < 0 ? '+' : '-'}${Math.abs(Math.round(hours))}`;
}
