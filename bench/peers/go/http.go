// SPDX-License-Identifier: MIT

// The server of the rows http-...: net/http with one thread for goroutines.
package main

import (
	"io"
	"net/http"
	"os"
	"runtime"
)

func serveHTTP(port string) {
	runtime.GOMAXPROCS(1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Server", "go")
		header.Set("Content-Type", "text/plain")
		header.Set("Connection", "keep-alive")
		io.WriteString(w, "Hello, World!")
	}
	http.HandleFunc("/", handler)
	if http.ListenAndServe("127.0.0.1:"+port, nil) != nil {
		os.Exit(1)
	}
}
