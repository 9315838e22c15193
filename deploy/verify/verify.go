// Verifies our access tokens in Go with golang-jwt.
//
//	JWKS_URL=https://auth.example.com/.well-known/jwks.json TOKEN_ISSUER=… TOKEN_AUDIENCE=… go run verify.go <tokens
//
// One token a line; prints "ok" with account and session, or "refused" with the reason.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/golang-jwt/jwt"
)

// keySet remembers our public keys for five minutes: less than a key is published before it signs.
type keySet struct {
	keys    map[string]*ecdsa.PublicKey
	fetched time.Time
}

func (s *keySet) key(kid string) (*ecdsa.PublicKey, error) {
	if time.Since(s.fetched) > 5*time.Minute {
		if err := s.fetch(); err != nil && s.keys == nil {
			return nil, err
		}
	}
	if key := s.keys[kid]; key != nil {
		return key, nil
	}
	return nil, errors.New("unknown key")
}

func (s *keySet) fetch() error {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(os.Getenv("JWKS_URL"))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var set struct {
		Keys []struct{ Kid, Kty, Crv, X, Y string }
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil {
		return err
	}
	keys := map[string]*ecdsa.PublicKey{}
	for _, jwk := range set.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(jwk.X)
		y, errY := base64.RawURLEncoding.DecodeString(jwk.Y)
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
		if jwk.Kty == "EC" && jwk.Crv == "P-256" && errX == nil && errY == nil && key.Curve.IsOnCurve(key.X, key.Y) {
			keys[jwk.Kid] = key
		}
	}
	s.keys, s.fetched = keys, time.Now()
	return nil
}

func verify(text string, keys *keySet) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	parser := jwt.Parser{ValidMethods: []string{"ES256"}} // never what the token itself says
	_, err := parser.ParseWithClaims(text, claims, func(token *jwt.Token) (interface{}, error) {
		// No other kind of token of the same issuer.
		if kind, _ := token.Header["typ"].(string); !strings.EqualFold(kind, "at+jwt") {
			return nil, errors.New("not an access token")
		}
		kid, _ := token.Header["kid"].(string)
		return keys.key(kid)
	})
	if err != nil {
		return nil, err
	}
	if !claims.VerifyExpiresAt(time.Now().Unix(), true) || !claims.VerifyIssuer(os.Getenv("TOKEN_ISSUER"), true) ||
		!claims.VerifyAudience(os.Getenv("TOKEN_AUDIENCE"), true) {
		return nil, errors.New("not for us, or expired")
	}
	return claims, nil
}

func main() {
	keys := &keySet{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if claims, err := verify(lines.Text(), keys); err != nil {
			fmt.Println("refused", err)
		} else {
			fmt.Println("ok", claims["sub"], claims["sid"])
		}
	}
}
