// What every part of the page uses: the API, elements, labels, state and texts.

export * from "./api.js";
export * from "./dom.js";
export * from "./labels.js";
export * from "./state.js";
export * from "./words.js";
