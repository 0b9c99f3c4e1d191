// AG-UI's official client.  npm install @ag-ui/client; node agui_client.mjs [ADDRESS] [GRAPH] [QUESTION]
import { HttpAgent } from "@ag-ui/client";

const [address = "http://127.0.0.1:8200", graph = "bmw", question = "Which BMW X5 variants are there?"] = process.argv.slice(2);
const key = process.env.NACRE_KEY;
const agent = new HttpAgent({
  url: `${address}/agui?graph=${graph}`,
  headers: key ? { Authorization: `Bearer ${key}` } : {},
});

async function run(parameters) {
  await agent.runAgent(parameters, {
    onTextMessageContentEvent: ({ event }) => void process.stdout.write(event.delta),
    onRunErrorEvent: ({ event }) => console.error("failed:", event.message),
  });
  console.log();
}

agent.addMessage({ id: crypto.randomUUID(), role: "user", content: question });
await run();
for (const interrupt of agent.pendingInterrupts) {
  const [option] = interrupt.responseSchema.properties.option.oneOf;
  console.log(`${interrupt.message} ${option.title}`);
  await run({ resume: [{ interruptId: interrupt.id, status: "resolved", payload: { option: option.const } }] });
}
console.log(agent.state.nacre.values, agent.state.nacre.status, agent.state.nacre.confidence);
console.log("sources:", agent.state.nacre.citations.map((citation) => citation.source));
