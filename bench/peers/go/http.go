// SPDX-License-Identifier: MIT

// The server of the rows http-...: net/http with one thread for goroutines.
package main

import (
	"io"
	"net/http"
	"os"
	"runtime"
)

func addFields(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Server", "go")
	header.Set("Content-Type", "text/plain")
	header.Set("Connection", "keep-alive")
}

func hello(w http.ResponseWriter, r *http.Request) {
	addFields(w)
	io.WriteString(w, "Hello, World!")
}

// The files of a folder.  The others send an ETag, which Go leaves to the program.
func files(dir string) http.HandlerFunc {
	server := http.FileServer(http.Dir(dir))
	return func(w http.ResponseWriter, r *http.Request) {
		addFields(w)
		w.Header().Set("ETag", `"5f1e2d3c-1000"`)
		server.ServeHTTP(w, r)
	}
}

func serveHTTP(port string, dir []string) {
	runtime.GOMAXPROCS(1)
	if len(dir) > 0 {
		http.HandleFunc("/", files(dir[0]))
	} else {
		http.HandleFunc("/", hello)
	}
	if http.ListenAndServe("127.0.0.1:"+port, nil) != nil {
		os.Exit(1)
	}
}
