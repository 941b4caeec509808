import { createClient } from 'accounting-data-sdk';

const client = createClient();
const controller = new AbortController();
const { signal } = controller;

try {
  for await (const page of client.accounts.list({}, { signal }).pages()) {
    console.log('a page of', page.records.length);
    // The user leaves while the next page is on its way.
    const leave = () => controller.abort(new Error('The user left.'));
    setTimeout(leave, 60);
  }
} catch (error) {
  // An abort rejects with its own reason.
  console.log(String(error));
}
