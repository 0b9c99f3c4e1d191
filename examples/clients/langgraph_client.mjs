// LangGraph's SDK from npm.  npm install @langchain/langgraph-sdk; node langgraph_client.mjs [ADDRESS] [GRAPH] [QUESTION]
import { Client } from "@langchain/langgraph-sdk";

const [apiUrl = "http://127.0.0.1:8200/langgraph", graph = "bmw", question = "Which BMW X5 variants are there?"] =
  process.argv.slice(2);
const client = new Client({ apiUrl, apiKey: process.env.NACRE_KEY });

const { thread_id } = await client.threads.create();
let record = {};
for await (const { event, data } of client.runs.stream(thread_id, graph, {
  input: { messages: [{ type: "human", content: question }] },
  streamMode: ["messages-tuple", "values"],
})) {
  if (event === "messages") process.stdout.write(data[0].content);
  if (event === "values") record = data.answer ?? record;
  if (event === "error") throw new Error(data.message);
}
console.log();

const { tasks } = await client.threads.getState(thread_id);
for (const { value } of tasks.flatMap((task) => task.interrupts)) {
  console.log(`Did you mean: ${value.options[0].words}`);
  const resumed = await client.runs.wait(thread_id, graph, { command: { resume: value.options[0].n } });
  console.log(resumed.messages.at(-1).content);
  record = resumed.answer;
}
console.log(record.values, record.status, record.confidence);
