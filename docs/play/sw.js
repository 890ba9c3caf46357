// Keeps the page for later visits without a network: its own files, and NumPy once the visitor has loaded it.
const NAME = "play-VERSION_OF_THE_FILES";
const FILES = ["FILES"];
const NUMPY = "https://cdn.jsdelivr.net/pyodide/";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("play-") && name !== NAME);
    await Promise.all(names.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

// The page asks for this once it works; the browser has just loaded the files, so they are not loaded again.
self.addEventListener("message", (event) => {
  const keep = async () => {
    const cache = await caches.open(NAME);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "force-cache" })));
    event.source.postMessage("kept");
  };
  event.waitUntil(keep());
});

self.addEventListener("fetch", (event) => {
  const { url, method } = event.request;
  const isOurs = url.startsWith(self.registration.scope);
  if (method !== "GET" || !(isOurs || url.startsWith(NUMPY))) return;
  const answer = async () => {
    const cache = await caches.open(NAME);
    const known = await cache.match(event.request, { ignoreSearch: true });
    if (known) return known;
    const response = await fetch(event.request);
    if (!isOurs && response.ok) await cache.put(event.request, response.clone());
    return response;
  };
  event.respondWith(answer());
});
