// Shows what is in the page.
"use strict";

setData(JSON.parse(byId("data").textContent));
showAll();
